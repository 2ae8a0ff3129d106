import ArgumentParser
import Configuration
import JSONText
import Objects
import SystemPackage

/// Where `serve` takes a setting from: its flag, else the environment, else the configuration file,
/// else the default.
///
/// A setting has one name: `lineBytes` in the file is `--line-bytes` and `GEOBUCKET_LINE_BYTES`.
struct Settings {
    private let environment: ConfigReader
    private let file: ConfigReader?

    private static let texts: Set<String> = [
        "listen", "http", "store", "logLevel", "logFormat", "durability", "tokens",
        "jwtKeys", "jwtAudience", "tlsCertificate", "tlsKey", "tlsClientCa",
    ]

    private static let switches: Set<String> = ["insecure"]

    private static let numbers: Set<String> = Set(
        ["drainSeconds"] + LimitSetting.all.map(\.name))

    init(file path: String?) async throws {
        environment = ConfigReader(provider: EnvironmentVariablesProvider())
            .scoped(to: "geobucket")
        let path = path ?? environment.string(forKey: "config")
        guard let path else {
            file = nil
            return
        }
        try Self.check(file: path)
        do {
            file = ConfigReader(
                provider: try await FileProvider<JSONSnapshot>(filePath: FilePath(path)))
        } catch {
            throw ValidationError("the configuration file \(path) cannot be read: \(error)")
        }
    }

    func string(_ name: String, flag: String?) -> String? {
        flag ?? environment.string(forKey: ConfigKey(name)) ?? file?.string(forKey: ConfigKey(name))
    }

    /// A whole number; what is not one is refused with its place.
    func int(_ name: String, flag: Int?) throws -> Int? {
        if let flag { return flag }
        if let text = environment.string(forKey: ConfigKey(name)) {
            guard let value = Int(text) else {
                throw ValidationError(
                    "\(Self.variable(name)) is \"\(text)\", which is no whole number")
            }
            return value
        }
        return file?.int(forKey: ConfigKey(name))
    }

    /// A switch that is on or off.
    func bool(_ name: String, flag: Bool) throws -> Bool {
        if flag { return true }
        if let text = environment.string(forKey: ConfigKey(name)) {
            guard let value = Bool(text) else {
                throw ValidationError(
                    "\(Self.variable(name)) is \"\(text)\", which is neither true nor false")
            }
            return value
        }
        return file?.bool(forKey: ConfigKey(name)) ?? false
    }

    /// `GEOBUCKET_LINE_BYTES` for `lineBytes`.
    private static func variable(_ name: String) -> String {
        "GEOBUCKET_" + name.map { $0.isUppercase ? "_\($0)" : $0.uppercased() }.joined()
    }

    /// Refuses a file with unknown names or values of the wrong type.
    private static func check(file path: String) throws {
        let fault: String?
        do {
            fault = try JSONParser.reading(try Files.contents(of: path), problem)
        } catch let error as JSONSyntaxError {
            throw ValidationError("--config: \(path) is not JSON: \(error.message)")
        } catch {
            throw ValidationError("--config: \(error)")
        }
        if let fault { throw ValidationError("--config: \(path): \(fault)") }
    }

    private static func problem(in file: JSONView) -> String? {
        guard file.kind == .object else { return "it is no JSON object" }
        for member in file.members {
            let name = String(decoding: member.name, as: UTF8.self)
            if texts.contains(name) {
                if member.value.kind != .string { return "\"\(name)\" has to be a string" }
            } else if switches.contains(name) {
                if member.value.kind != .bool { return "\"\(name)\" has to be true or false" }
            } else if numbers.contains(name) {
                if case .integer? = member.value.number { continue }
                return "\"\(name)\" has to be a whole number"
            } else {
                let known = texts.union(switches).union(numbers).sorted().joined(separator: ", ")
                return "\"\(name)\" is no setting; known are \(known)"
            }
        }
        return nil
    }
}

/// A limit of the service as a setting.
struct LimitSetting: Sendable {
    let name: String
    let path: WritableKeyPath<Limits, Int> & Sendable
    let range: ClosedRange<Int>

    static let all: [LimitSetting] = [
        LimitSetting(name: "lineBytes", path: \.lineBytes, range: 1_024...1 << 30),
        LimitSetting(name: "replyBytes", path: \.replyBytes, range: 1_024...1 << 30),
        LimitSetting(name: "objectBytes", path: \.objectBytes, range: 2...1 << 28),
        LimitSetting(name: "pageObjects", path: \.pageObjects, range: 1...1_000_000),
        LimitSetting(name: "batchRequests", path: \.batchRequests, range: 1...1_000_000),
        LimitSetting(name: "clauseDepth", path: \.clauseDepth, range: 1...200),
        LimitSetting(name: "clauses", path: \.clauses, range: 1...1_000_000),
        LimitSetting(name: "inValues", path: \.inValues, range: 1...1_000_000),
        LimitSetting(
            name: "polygonPositions", path: \.polygonPositions, range: 4...1_000_000),
        LimitSetting(name: "orderKeys", path: \.orderKeys, range: 1...1_000),
        LimitSetting(name: "dataTypeBytes", path: \.dataTypeBytes, range: 1...10_000),
        LimitSetting(name: "geoFields", path: \.geoFields, range: 1...10_000),
        LimitSetting(name: "requestKeyBytes", path: \.requestKeyBytes, range: 1...10_000),
        LimitSetting(name: "requestKeys", path: \.requestKeys, range: 0...1 << 40),
        LimitSetting(name: "queryMilliseconds", path: \.queryMilliseconds, range: 1...86_400_000),
        LimitSetting(
            name: "exportIdleMilliseconds", path: \.exportIdleMilliseconds, range: 1...86_400_000),
        LimitSetting(
            name: "slowQueryMilliseconds", path: \.slowQueryMilliseconds, range: 0...86_400_000),
        LimitSetting(name: "connections", path: \.connections, range: 1...1_000_000),
        LimitSetting(
            name: "connectionsPerAddress", path: \.connectionsPerAddress, range: 1...1_000_000),
        LimitSetting(
            name: "handshakeMilliseconds", path: \.handshakeMilliseconds, range: 1...86_400_000),
        LimitSetting(name: "lineMilliseconds", path: \.lineMilliseconds, range: 1...86_400_000),
        LimitSetting(name: "idleMilliseconds", path: \.idleMilliseconds, range: 1...1 << 40),
        LimitSetting(name: "unreadMilliseconds", path: \.unreadMilliseconds, range: 1...86_400_000),
        LimitSetting(
            name: "requestsPerSecond", path: \.requestsPerSecond, range: 0...1_000_000_000),
        LimitSetting(name: "failedLogins", path: \.failedLogins, range: 1...1_000_000),
        LimitSetting(
            name: "failedLoginMilliseconds", path: \.failedLoginMilliseconds, range: 1...86_400_000),
        LimitSetting(name: "queuedWrites", path: \.queuedWrites, range: 1...1_000_000_000),
        LimitSetting(name: "connectionThreads", path: \.connectionThreads, range: 1...1_024),
        LimitSetting(name: "readThreads", path: \.readThreads, range: 1...1_024),
        LimitSetting(name: "queueMilliseconds", path: \.queueMilliseconds, range: 1...86_400_000),
        LimitSetting(name: "pipelinedRequests", path: \.pipelinedRequests, range: 1...1_000_000),
        LimitSetting(name: "pipelinedBytes", path: \.pipelinedBytes, range: 1_024...1 << 40),
        LimitSetting(name: "outputBytes", path: \.outputBytes, range: 4_096...1 << 30),
        LimitSetting(name: "bufferedBytes", path: \.bufferedBytes, range: 1 << 20...1 << 46),
        LimitSetting(
            name: "queuedWriteBytes", path: \.queuedWriteBytes, range: 1_024...1 << 40),
        LimitSetting(name: "logBytes", path: \.logBytes, range: 4_096...1 << 40),
        LimitSetting(
            name: "documentCacheBytes", path: \.documentCacheBytes, range: 0...1 << 46),
        LimitSetting(name: "memory", path: \.memoryBytes, range: 0...1 << 46),
    ]
}
