import ArgumentParser
import Configuration
import Glibc
import JSONText
import Objects
import SystemPackage

/// Reads the settings of `serve`: each from its flag, else the environment, else the configuration
/// file, else the default.
///
/// A setting has one name: `lineBytes` in the file is `--line-bytes` and `GEOBUCKET_LINE_BYTES`.
struct Settings {
    private let environment: ConfigReader
    private let file: ConfigReader?
    /// The path of the configuration file; nil without one.
    let filePath: String?
    /// The values in the configuration file, as they stand there, by their names.
    private let fileValues: [String: [UInt8]]

    private enum Kind {
        case text, toggle, number
    }

    /// The kinds of all settings by their names: those of the flags, but for the one that names the
    /// configuration file.
    private static let kinds: [String: Kind] = {
        let flags: [any ParsableArguments] = [
            Serve(), BackupFlags(), WebFlags(), BasemapFlags(), ClusterFlags(), AccessFlags(),
            AuditFlags(), QuotaFlags(), LimitFlags(),
        ]
        var kinds: [String: Kind] = [:]
        for child in flags.flatMap({ Mirror(reflecting: $0).children }) {
            // The compiler stores a wrapped property as `_name`.
            let name = child.label.map { String($0.drop { $0 == "_" }) } ?? ""
            switch child.value {
            case is Option<String?>: kinds[name] = .text
            case is Flag<Bool>: kinds[name] = .toggle
            case is Option<Int?>: kinds[name] = .number
            default: break  // a group
            }
        }
        kinds["config"] = nil
        return kinds
    }()

    /// The names of all settings.
    static let names: [String] = kinds.keys.sorted()

    init(file path: String?) async throws {
        environment = ConfigReader(provider: EnvironmentVariablesProvider())
            .scoped(to: "geobucket")
        let path = path ?? environment.string(forKey: "config")
        filePath = path
        guard let path else {
            (file, fileValues) = (nil, [:])
            return
        }
        fileValues = try Self.values(inFile: path)
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

    /// A whole number in the setting's unit; any other text is refused with a message that names its
    /// source.
    func int(_ name: String, flag: Int?) throws -> Int? {
        if let flag { return flag }
        let measure = Measure(setting: name)
        if let text = environment.string(forKey: ConfigKey(name)) {
            guard let value = measure.value(of: text) else {
                throw ValidationError(
                    "\(Self.variable(name)) is \"\(text)\"; expected \(measure.expected)")
            }
            return value
        }
        let key = ConfigKey(name)
        return file?.int(forKey: key) ?? file?.string(forKey: key).flatMap(measure.value)
    }

    /// A setting that is on or off.
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

    /// Where a setting has its value from: its flag, its variable, or the member of the file.
    ///
    /// - Parameter flag: nil if the flag is not given.
    func source(of name: String, flag: String?) -> String {
        if flag != nil {
            return "--" + name.map { $0.isUppercase ? "-\($0.lowercased())" : "\($0)" }.joined()
        }
        if environment.string(forKey: ConfigKey(name)) != nil { return Self.variable(name) }
        return "\"\(name)\" of the configuration file"
    }

    /// The names of settings for which another file has another value, or one of them none, unless a
    /// variable of the environment decides.
    func differences(from other: Settings) -> Set<String> {
        let names = Set(fileValues.keys).union(other.fileValues.keys)
        return names.filter { name in
            fileValues[name] != other.fileValues[name]
                && environment.string(forKey: ConfigKey(name)) == nil
        }
    }

    /// The names of settings that are given as flags.
    static func given(_ flags: [any ParsableArguments]) -> Set<String> {
        var names: Set<String> = []
        for child in flags.flatMap({ Mirror(reflecting: $0).children }) {
            let isGiven =
                switch child.value {
                case let option as Option<String?>: option.wrappedValue != nil
                case let option as Option<Int?>: option.wrappedValue != nil
                case let flag as Flag<Bool>: flag.wrappedValue
                default: false  // a group
                }
            guard isGiven, let label = child.label else { continue }
            names.insert(String(label.drop { $0 == "_" }))
        }
        return names
    }

    /// The address of a setting; nil without the setting.
    func address(_ name: String, flag: String?) throws -> Address? {
        guard let text = string(name, flag: flag) else { return nil }
        guard let address = Address(argument: text) else {
            throw ValidationError(
                "\(source(of: name, flag: flag)): \"\(text)\" is no HOST:PORT")
        }
        return address
    }

    /// The path of a setting, which is not empty; nil without the setting.
    func path(_ name: String, flag: String?) throws -> String? {
        let path = string(name, flag: flag)
        guard path != "" else {
            throw ValidationError("\(source(of: name, flag: flag)): the path is empty")
        }
        return path
    }

    /// The path of a setting, at which there is a folder that can be read; nil without the setting.
    func folder(_ name: String, flag: String?) throws -> String? {
        guard let path = try path(name, flag: flag) else { return nil }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
            access(path, R_OK | X_OK) == 0
        else {
            throw ValidationError(
                "\(source(of: name, flag: flag)): \(path) is no folder that can be read")
        }
        return path
    }

    /// `GEOBUCKET_LINE_BYTES` for `lineBytes`.
    static func variable(_ name: String) -> String {
        "GEOBUCKET_" + name.map { $0.isUppercase ? "_\($0)" : $0.uppercased() }.joined()
    }

    /// The values in a file. One with unknown names, values of the wrong type, or a name that occurs
    /// twice is refused.
    private static func values(inFile path: String) throws -> [String: [UInt8]] {
        let text: [UInt8]
        do {
            text = try Files.trusted(path, maximumBytes: Limits().fileBytes).bytes
        } catch {
            throw ValidationError("--config: \(error)")
        }
        func line(of offset: Int) -> Int {
            1 + text[..<min(offset, text.count)].count { $0 == UInt8(ascii: "\n") }
        }
        do {
            return try JSONParser.reading(text) { file in
                guard file.kind == .object, let start = text.firstIndex(of: UInt8(ascii: "{"))
                else { throw ValidationError("--config: \(path) is no JSON object") }
                var lines: [String: Int] = [:]
                var values: [String: [UInt8]] = [:]
                for member in file.members {
                    let offset = member.text.baseAddress! - file.text.baseAddress!
                    let line = line(of: start + offset)
                    let name = String(decoding: member.name, as: UTF8.self)
                    let again = lines[name].map {
                        "\"\(name)\" stands here again, as on line \($0)"
                    }
                    if let fault = again ?? problem(with: member.value, of: name) {
                        throw ValidationError("--config: \(path), line \(line): \(fault)")
                    }
                    lines[name] = line
                    values[name] = Array(member.value.text)
                }
                return values
            }
        } catch let error as JSONSyntaxError {
            let position = error.offset.map { ", line \(line(of: $0))" } ?? ""
            throw ValidationError("--config: \(path) is not JSON\(position): \(error.message)")
        }
    }

    private static func problem(with value: JSONView, of name: String) -> String? {
        guard let kind = kinds[name] else {
            if let nearest = nearestName(to: name, among: names) {
                return "\"\(name)\" is no setting; the nearest is \"\(nearest)\""
            }
            return "\"\(name)\" is no setting; known are \(names.joined(separator: ", "))"
        }
        let measure = Measure(setting: name)
        let (fits, expected) =
            switch kind {
            case .text: (value.kind == .string, "a string")
            case .toggle: (value.kind == .bool, "true or false")
            case .number: (isNumber(value, measure), measure.expected)
            }
        return fits ? nil : "\"\(name)\" has to be \(expected)"
    }

    /// Whether a value is a whole number, or a string of one with its unit.
    private static func isNumber(_ value: JSONView, _ measure: Measure) -> Bool {
        if case .integer? = value.number { return true }
        return value.string.flatMap(measure.value) != nil
    }
}
