import FoundationEssentials

extension LoadReport {
    /// The report as JSON text; equal reports have equal bytes.
    public func json() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
    }

    /// - Throws: `LoadFailure` for text that is no report of this version.
    public init(json: [UInt8]) throws(LoadFailure) {
        do {
            self = try JSONDecoder().decode(LoadReport.self, from: Data(json))
        } catch {
            throw LoadFailure("it is no report of a load test: \(error)")
        }
        guard format == Self.currentFormat else {
            throw LoadFailure("its format is \(format), not \(Self.currentFormat)")
        }
    }
}
