import Objects
import PlainJSON

/// A figure of all objects that a query's clause selects.
public struct Aggregation: Sendable, Hashable {
    /// What is computed.
    public enum Function: Sendable, Hashable {
        /// The number of objects.
        case count
        /// The values of a field that most objects have, at most `limit`, with their counts.
        case group(FieldPath, limit: Int)
        /// One number of all numbers that a field has.
        case reduce(FieldPath, Reduction)
    }

    /// What is made of numbers, under its name in the query document.
    public enum Reduction: String, Sendable, Hashable, CaseIterable {
        /// The least number, exactly.
        case minimum = "MIN"
        /// The greatest number, exactly.
        case maximum = "MAX"
        /// Exact if all numbers are whole, otherwise rounded once to binary64.
        case sum = "SUM"
        /// The sum divided by the number of numbers, rounded once to binary64.
        case average = "AVG"
    }

    /// The name of the result.
    public var name: String
    /// What is computed.
    public var function: Function

    /// Values of a GROUP that names no limit.
    public static let defaultGroupLimit = 50

    /// The bytes that a distinct value of a GROUP counts for, besides the UTF-8 of a string.
    public static let valueBytes = 64

    /// Stores its arguments.
    public init(_ function: Function, into name: String) {
        self.name = name
        self.function = function
    }

    /// The field whose values are needed; nil for a COUNT.
    public var field: FieldPath? {
        switch function {
        case .count: nil
        case .group(let field, _), .reduce(let field, _): field
        }
    }

    /// Whether single values are told apart.
    public var isGroup: Bool {
        if case .group = function { true } else { false }
    }

    /// Appends the aggregation's document.
    public func write(to writer: inout JSONWriter) {
        writer.raw("{\"type\":")
        writer.string(type)
        if let field {
            writer.key("field")
            writer.string(field.utf8)
        }
        if case .group(_, let limit) = function {
            writer.key("limit")
            writer.integer(limit)
        }
        writer.key("putAggregationInto")
        writer.string(name)
        writer.byte(UInt8(ascii: "}"))
    }

    /// The name of the function in the query document.
    var type: String {
        switch function {
        case .count: "COUNT"
        case .group: "GROUP"
        case .reduce(_, let reduction): reduction.rawValue
        }
    }
}

extension Query {
    /// The fields whose values the aggregations need, each once.
    public var aggregatedFields: [FieldPath] {
        var fields: [FieldPath] = []
        for field in aggregations.compactMap(\.field) where !fields.contains(field) {
            fields.append(field)
        }
        return fields
    }
}
