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
            throw LoadFailure("it is no report of a load test: \(Self.reason(of: error))")
        }
        guard format == Self.currentFormat else {
            throw LoadFailure("its format is \(format), not \(Self.currentFormat)")
        }
    }

    private static func reason(of error: any Error) -> String {
        switch error as? DecodingError {
        case .keyNotFound(let key, let context)?:
            "\(path(context.codingPath + [key])) is missing"
        case .typeMismatch(_, let context)?, .valueNotFound(_, let context)?,
            .dataCorrupted(let context)?:
            context.codingPath.isEmpty
                ? "it is no JSON object"
                : "\(path(context.codingPath)) has no value of the right type"
        default: "\(error)"
        }
    }

    /// `stages.0.rate`
    private static func path(_ keys: [any CodingKey]) -> String {
        keys.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
    }
}
