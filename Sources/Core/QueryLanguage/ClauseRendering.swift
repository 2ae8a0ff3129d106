import Geodesy
import Objects
import PlainJSON

extension Clause {
    /// The clause as a document of the query language, which parses back to the same clause.
    public func write(to writer: inout JSONWriter) {
        writer.raw("{\"type\":")
        switch self {
        case .all: writer.raw("\"all\"")
        case .eq(let field, let literal): writer.leaf("eq", field, "value", literal)
        case .contains(let field, let literal): writer.leaf("contains", field, "value", literal)
        case .prefix(let field, let prefix): writer.leaf("prefix", field, "prefix", .string(prefix))
        case .like(let field, let pattern):
            writer.leaf("like", field, "pattern", .string(pattern.text))
            if pattern.ignoresCase { writer.raw(",\"ignoreCase\":true") }
        case .range(let field, let range):
            writer.leaf("range", field)
            range.write(to: &writer)
        case .isIn(let field, let literals):
            writer.leaf("in", field)
            writer.key("values")
            writer.array(literals) { $0.write(to: &$1) }
        case .hasField(let field, let type):
            writer.leaf("hasField", field)
            if let type {
                writer.key("fieldType")
                writer.string(type.rawValue)
            }
        case .geo(let clause): clause.write(to: &writer)
        case .and(let clauses): writer.clauses("and", clauses)
        case .or(let clauses): writer.clauses("or", clauses)
        case .not(let clause):
            writer.raw("\"not\",\"clause\":")
            clause.write(to: &writer)
        }
        writer.byte(UInt8(ascii: "}"))
    }

    /// The clause document as text.
    public var json: String {
        var writer = JSONWriter()
        write(to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension LiteralRange {
    fileprivate func write(to writer: inout JSONWriter) {
        func limit(
            _ name: StaticString, _ flag: StaticString, _ literal: Literal, _ included: Bool
        ) {
            writer.raw(name)
            literal.write(to: &writer)
            if !included { writer.raw(flag) }
        }
        func lower(_ literal: Literal, _ included: Bool) {
            limit(",\"lowerLimit\":", ",\"lowerIncluded\":false", literal, included)
        }
        func upper(_ literal: Literal, _ included: Bool) {
            limit(",\"upperLimit\":", ",\"upperIncluded\":false", literal, included)
        }
        switch self {
        case .numbers(let low, let high):
            if let low { lower(.number(low.value), low.included) }
            if let high { upper(.number(high.value), high.included) }
        case .strings(let low, let high):
            if let low { lower(.string(low.value), low.included) }
            if let high { upper(.string(high.value), high.included) }
        }
    }
}

extension Literal {
    /// Appends the literal's JSON, a point as a GeoPoint.
    public func write(to writer: inout JSONWriter) {
        switch self {
        case .null: writer.raw("null")
        case .bool(let value): writer.bool(value)
        case .number(let value): writer.number(value)
        case .string(let utf8): writer.string(utf8)
        case .point(let position):
            writer.point(latitude: position.latitude, longitude: position.longitude)
        }
    }
}

extension Literal: CustomStringConvertible {
    /// The literal's JSON.
    public var description: String {
        var writer = JSONWriter()
        write(to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension OrderKey {
    /// `{"field":…,"descending":…}`, as in the array form of `orderBy`.
    public func write(to writer: inout JSONWriter) {
        writer.raw("{\"field\":")
        switch source {
        case .field(let field): writer.string(field.utf8)
        case .distance(let name): writer.string("_calculated.\(name)")
        }
        writer.key("descending")
        writer.bool(descending)
        writer.byte(UInt8(ascii: "}"))
    }
}

extension JSONWriter {
    /// Elements with commas between them.
    @inlinable
    public mutating func list<Element>(
        _ elements: some Sequence<Element>, _ write: (Element, inout JSONWriter) -> Void
    ) {
        var first = true
        for element in elements {
            if !first { byte(UInt8(ascii: ",")) }
            first = false
            write(element, &self)
        }
    }

    /// Elements between brackets.
    mutating func array<Element>(
        _ elements: [Element], _ write: (Element, inout JSONWriter) -> Void
    ) {
        byte(UInt8(ascii: "["))
        list(elements, write)
        byte(UInt8(ascii: "]"))
    }

    /// Appends a GeoPoint of degrees, which have to be finite.
    public mutating func point(latitude: Double, longitude: Double) {
        raw("{\"_type\":\"point\",\"lat\":")
        double(latitude)
        key("lon")
        double(longitude)
        byte(UInt8(ascii: "}"))
    }

    mutating func leaf(_ type: String, _ field: FieldPath) {
        string(type)
        key("field")
        string(field.utf8)
    }

    fileprivate mutating func leaf(
        _ type: String, _ field: FieldPath, _ member: String, _ literal: Literal
    ) {
        leaf(type, field)
        byte(UInt8(ascii: ","))
        string(member)
        byte(UInt8(ascii: ":"))
        literal.write(to: &self)
    }

    fileprivate mutating func clauses(_ type: String, _ clauses: [Clause]) {
        string(type)
        key("clauses")
        array(clauses) { $0.write(to: &$1) }
    }
}
