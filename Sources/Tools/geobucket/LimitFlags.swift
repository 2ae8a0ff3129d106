import ArgumentParser
import NIOCore
import Objects

/// The flags of `serve` that set limits, one for each of `LimitSetting.all`.
struct LimitFlags: ParsableArguments, CustomReflectable {
    /// The values of the flags, in the order of `LimitSetting.all`.
    private let values: [Int?]

    init() { values = [] }

    init(from decoder: any Decoder) throws {
        let flags = try decoder.container(keyedBy: FlagKey.self)
        values = try LimitSetting.all.map {
            try flags.decode(Option<Int?>.self, forKey: FlagKey(stringValue: $0.name)).wrappedValue
        }
    }

    /// The flags in the form that the argument parser expects, as properties.
    var customMirror: Mirror {
        Mirror(
            self,
            children: LimitSetting.all.map { setting in
                let measure = Measure(setting: setting.name)
                return (
                    setting.name,
                    Option<Int?>(help: setting.help(measure), transform: measure.argument)
                )
            })
    }

    /// The limits as flags, environment and file set them.
    func limits(_ settings: Settings) throws -> Limits {
        var limits = Limits()
        limits.connectionThreads = min(max(System.coreCount, 1), 16)
        for (setting, flag) in zip(LimitSetting.all, values) {
            guard let value = try settings.int(setting.name, flag: flag) else { continue }
            guard setting.range.contains(value) else {
                let source = settings.source(of: setting.name, flag: flag.map(String.init))
                throw ValidationError(
                    "\(source) has to be \(setting.range.lowerBound) to "
                        + "\(setting.range.upperBound), not \(value)")
            }
            limits[keyPath: setting.path] = value
        }
        return limits
    }
}

private struct FlagKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }

    init?(intValue: Int) { nil }
}

extension LimitSetting {
    /// The limits that `serve --help` shows; `--help-all` shows all.
    private static let usual: Set = ["memory"]

    fileprivate func help(_ measure: Measure) -> ArgumentHelp {
        let text = bounds.filter { $0 != "`" }
        let value = defaultText ?? String(Limits()[keyPath: path])
        return ArgumentHelp(
            "\(text.prefix(1).uppercased())\(text.dropFirst()). (default: \(value))",
            valueName: measure.valueName,
            visibility: Self.usual.contains(name) ? .default : .hidden)
    }
}
