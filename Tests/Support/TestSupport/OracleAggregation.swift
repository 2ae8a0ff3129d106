import JSONText

/// An aggregation and what it has to answer, written from the specification.
public struct OracleAggregation: Sendable {
    public var type: String
    public var field: String
    public var limit: Int?

    public init(_ type: String, _ field: String, limit: Int? = nil) {
        self.type = type
        self.field = field
        self.limit = limit
    }

    /// Some aggregations over the fields that generated objects have.
    public static func random(_ random: inout SplitMix64) -> [OracleAggregation] {
        (0..<1 + random.below(5)).map { _ in
            let type = random.pick(["COUNT", "GROUP", "GROUP", "GROUP", "MIN", "MAX", "SUM", "AVG"])
            return OracleAggregation(
                type, random.pick(ObjectGenerator.paths),
                limit: random.pick([nil, 1, 2, 5, 1_000]))
        }
    }

    /// The aggregation's document.
    public func document(into name: String) -> String {
        var members = [#""type":"\#(type)""#, #""putAggregationInto":"\#(name)""#]
        if type != "COUNT" { members.append("\"field\":\(JSONValue.string(field).text)") }
        if type == "GROUP", let limit { members.append("\"limit\":\(limit)") }
        return "{\(members.joined(separator: ","))}"
    }

    /// The JSON text of the result over some objects; nil for a sum that has to be refused.
    public func answer(on objects: [JSONValue]) -> String? {
        let values = objects.map { $0.field(field) }
        switch type {
        case "COUNT": return "\(objects.count)"
        case "GROUP": return groups(values)
        default: return figure(values.compactMap { $0?.nearest.number })
        }
    }

    // MARK: Groups

    private func groups(_ values: [JSONValue?]) -> String {
        var groups: [(value: JSONValue, count: Int)] = []
        var (present, without) = (0, 0)
        for value in values {
            guard let value, value != .null else {
                without += 1
                continue
            }
            present += 1
            guard value.string != nil || value.number != nil || Self.isBool(value) else { continue }
            if let known = groups.firstIndex(where: { OracleOrder.compare($0.value, value) == 0 }) {
                groups[known].count += 1
            } else {
                groups.append((value, 1))
            }
        }
        let listed = groups.sorted {
            $0.count != $1.count
                ? $0.count > $1.count : OracleOrder.compare($0.value, $1.value) < 0
        }
        .prefix(limit ?? 50)
        let texts = listed.map { #"{"value":\#(Self.canonical($0.value)),"count":\#($0.count)}"# }
        let other = present - listed.reduce(0) { $0 + $1.count }
        return
            #"{"values":[\#(texts.joined(separator: ","))],"other":\#(other),"without":\#(without)}"#
    }

    private static func isBool(_ value: JSONValue) -> Bool {
        if case .bool = value { true } else { false }
    }

    private static func canonical(_ value: JSONValue) -> String {
        value.nearest.number.map(canonical) ?? value.text
    }

    /// Whole numbers of 64 bits as digits, others in the shortest spelling.
    private static func canonical(_ number: JSONNumber) -> String {
        let range = -(Int128(1) << 63)..<Int128(1) << 64
        switch number {
        case .integer(let value): return "\(value)"
        case .unsigned(let value): return "\(value)"
        case .decimal(let value):
            guard let whole = Int128(exactly: value), range.contains(whole) else {
                return value.description
            }
            return "\(whole)"
        }
    }

    // MARK: Figures

    private func figure(_ numbers: [JSONNumber]) -> String? {
        guard !numbers.isEmpty else { return "null" }
        let exact = numbers.map { ExactInteger(scaled: $0) }
        let sum = exact.reduce(ExactInteger(0), +)
        switch type {
        case "MIN", "MAX":
            let extreme = type == "MIN" ? exact.min()! : exact.max()!
            return Self.canonical(numbers[exact.firstIndex(of: extreme)!])
        case "SUM" where numbers.allSatisfy { ExactNumber($0).isWhole }: return sum.unscaledDigits
        case "SUM": return sum.nearest().map { Self.canonical(.decimal($0)) }
        case "AVG": return Self.canonical(.decimal(sum.nearest(dividedBy: numbers.count)!))
        default: preconditionFailure("no aggregation \(type)")
        }
    }
}

extension [OracleAggregation] {
    /// The member `aggregations` of a query; the results have the names `a0`, `a1` and so on.
    public var member: String {
        let documents = enumerated().map { $0.element.document(into: "a\($0.offset)") }
        return "\"aggregations\":[\(documents.joined(separator: ","))]"
    }

    /// The JSON text of all results; nil if one has to be refused.
    public func answer(on objects: [JSONValue]) -> String? {
        let results = map { $0.answer(on: objects) }
        guard !results.contains(nil) else { return nil }
        let members = results.enumerated().map { "\"a\($0.offset)\":\($0.element!)" }
        return "{\(members.joined(separator: ","))}"
    }
}
