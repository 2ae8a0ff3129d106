import Objects
import PlainJSON

extension Query {
    /// Appends the query in words, in the style of an SQL WHERE clause, as a JSON string.
    public func writeDescription(to writer: inout JSONWriter) {
        var text = JSONWriter()
        text.raw("WHERE ")
        clause.describe(to: &text)
        if !order.isEmpty {
            text.raw(" ORDER BY ")
            text.joined(order, ", ") { $0.describe(to: &$1) }
        }
        if text.count > Self.descriptionBytes {
            text.truncate(to: text.withBytes(Self.cut))
            text.raw("…")
        }
        text.withBytes { writer.string($0) }
    }

    /// A longer description is cut.
    private static let descriptionBytes = 1_000

    /// Where the last whole code point within the limit ends.
    private static func cut(_ text: UnsafeBufferPointer<UInt8>) -> Int {
        var end = descriptionBytes
        while text[end] & 0xC0 == 0x80 { end -= 1 }
        return end
    }
}

extension OrderKey {
    fileprivate func describe(to text: inout JSONWriter) {
        switch source {
        case .field(let field): text.raw(field.utf8)
        case .distance(let name):
            text.raw("_calculated.")
            text.raw(Array(name.utf8))
        }
        descending ? text.raw(" DESC") : text.raw(" ASC")
    }
}

extension Clause {
    /// The clause in the style of an SQL WHERE clause, for people to read.
    public var description: String {
        var text = JSONWriter()
        describe(to: &text)
        return String(decoding: text.bytes, as: UTF8.self)
    }

    fileprivate func describe(to text: inout JSONWriter) {
        text.raw("( ")
        switch self {
        case .all: text.raw("1 = 1")
        case .eq(let field, let value): text.comparison(field, " = ", value)
        case .range(let field, let range): range.describe(field, to: &text)
        case .prefix(let field, let prefix):
            text.comparison(field, " STARTS WITH ", .string(prefix))
        case .like(let field, let pattern):
            text.comparison(
                field, pattern.ignoresCase ? " LIKE IN ANY CASE " : " LIKE ",
                .string(pattern.text))
        case .isIn(let field, let values):
            text.raw(field.utf8)
            text.raw(" IN ( ")
            text.joined(values, ", ") { $0.write(to: &$1) }
            text.raw(" )")
        case .hasField(let field, let type):
            text.raw(field.utf8)
            text.raw(" IS ")
            text.raw(Array((type?.rawValue ?? "PRESENT").utf8))
        case .geo(let clause): clause.describe(to: &text)
        case .contains(let field, let value): text.comparison(field, " CONTAINS ", value)
        case .and(let clauses): text.joined(clauses, " AND ") { $0.describe(to: &$1) }
        case .or(let clauses): text.joined(clauses, " OR ") { $0.describe(to: &$1) }
        case .not(let clause):
            text.raw("NOT ")
            clause.describe(to: &text)
        }
        text.raw(" )")
    }
}

extension LiteralRange {
    fileprivate func describe(_ field: FieldPath, to text: inout JSONWriter) {
        switch self {
        case .numbers(let lower, let upper):
            if let lower {
                text.comparison(field, lower.included ? " >= " : " > ", .number(lower.value))
            }
            if lower != nil, upper != nil { text.raw(" AND ") }
            if let upper {
                text.comparison(field, upper.included ? " <= " : " < ", .number(upper.value))
            }
        case .strings(let lower, let upper):
            if let lower {
                text.comparison(field, lower.included ? " >= " : " > ", .string(lower.value))
            }
            if lower != nil, upper != nil { text.raw(" AND ") }
            if let upper {
                text.comparison(field, upper.included ? " <= " : " < ", .string(upper.value))
            }
        }
    }
}

extension JSONWriter {
    fileprivate mutating func comparison(
        _ field: FieldPath, _ relation: StaticString, _ value: Literal
    ) {
        raw(field.utf8)
        raw(relation)
        value.write(to: &self)
    }

    mutating func joined<Element>(
        _ elements: [Element], _ separator: StaticString,
        _ write: (Element, inout JSONWriter) -> Void
    ) {
        for (index, element) in zip(0..., elements) {
            if index > 0 { raw(separator) }
            write(element, &self)
        }
    }
}
