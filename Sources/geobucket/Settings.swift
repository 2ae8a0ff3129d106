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

    /// Every name a configuration file may have.
    static let names: Set<String> = Set(
        ["listen", "store", "logLevel", "drainSeconds"] + LimitSetting.all.map(\.name))

    init(file path: String?) async throws {
        environment = ConfigReader(provider: EnvironmentVariablesProvider())
            .scoped(to: "geobucket")
        let path = path ?? environment.string(forKey: "config")
        guard let path else {
            file = nil
            return
        }
        do {
            file = ConfigReader(
                provider: try await FileProvider<JSONSnapshot>(filePath: FilePath(path)))
        } catch {
            throw CommandFailure("the configuration file \(path) cannot be read: \(error)")
        }
        try Self.checkNames(inFile: path)
    }

    func string(_ name: String, flag: String?) -> String? {
        flag ?? environment.string(forKey: ConfigKey(name)) ?? file?.string(forKey: ConfigKey(name))
    }

    /// A whole number; what is not one is refused with its place.
    func int(_ name: String, flag: Int?) throws -> Int? {
        if let flag { return flag }
        if let text = environment.string(forKey: ConfigKey(name)) {
            guard let value = Int(text) else {
                throw CommandFailure("\(name) in the environment: \"\(text)\" is no whole number")
            }
            return value
        }
        guard let file else { return nil }
        do {
            // Required, so that a value of another type is told from none.
            return try file.requiredInt(forKey: ConfigKey(name))
        } catch {
            guard file.string(forKey: ConfigKey(name)) == nil else {
                throw CommandFailure("\(name) in the configuration file is no whole number")
            }
            return nil
        }
    }

    private static func checkNames(inFile path: String) throws {
        let bytes = try Files.contents(of: path)
        let found = try? JSONParser.reading(bytes) { view in
            view.kind == .object
                ? view.members.map { String(decoding: $0.name, as: UTF8.self) } : nil
        }
        guard let found = found ?? nil else {
            throw CommandFailure("the configuration file \(path) is no JSON object")
        }
        for name in found {
            guard names.contains(name) else {
                throw CommandFailure(
                    "the configuration file \(path) has an unknown setting \"\(name)\"; known are "
                        + names.sorted().joined(separator: ", "))
            }
        }
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
        LimitSetting(name: "orderKeys", path: \.orderKeys, range: 1...1_000),
        LimitSetting(name: "dataTypeBytes", path: \.dataTypeBytes, range: 1...10_000),
        LimitSetting(name: "queryMilliseconds", path: \.queryMilliseconds, range: 1...86_400_000),
        LimitSetting(
            name: "exportIdleMilliseconds", path: \.exportIdleMilliseconds, range: 1...86_400_000),
        LimitSetting(name: "connections", path: \.connections, range: 1...1_000_000),
        LimitSetting(name: "pipelinedRequests", path: \.pipelinedRequests, range: 1...1_000_000),
        LimitSetting(name: "pipelinedBytes", path: \.pipelinedBytes, range: 1_024...1 << 40),
        LimitSetting(name: "outputBytes", path: \.outputBytes, range: 4_096...1 << 30),
        LimitSetting(
            name: "documentCacheBytes", path: \.documentCacheBytes, range: 0...1 << 46),
    ]
}
