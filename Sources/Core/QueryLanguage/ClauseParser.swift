import Objects
import PlainJSON

/// Parses a clause document into a `Clause`, or throws its first fault with the path.
struct ClauseParser {
    let limits: Limits
    private var nodes = 0
    private var geo: GeoClauseParser

    private let takesEmptyAnd: Bool

    /// - Parameters:
    ///   - followsObjects: whether a circle's centre may be an object.
    ///   - takesEmptyAnd: whether an `and` of no clauses is `all`.
    init(limits: Limits, followsObjects: Bool = false, takesEmptyAnd: Bool = false) {
        (self.limits, self.takesEmptyAnd) = (limits, takesEmptyAnd)
        geo = GeoClauseParser(limits: limits, followsObjects: followsObjects)
    }

    /// The centres that follow an object, in the order of the document.
    var centers: [MovingCenter] { geo.centers ?? [] }

    mutating func parse(_ view: JSONView) throws(ServiceFailure) -> Clause {
        try clause(view, depth: 1)
    }

    private mutating func clause(
        _ view: JSONView, depth: Int
    ) throws(ServiceFailure) -> Clause {
        nodes += 1
        guard nodes <= limits.clauses else { throw .tooManyClauses(limits) }
        guard depth <= limits.clauseDepth else { throw .clausesTooDeep(limits) }
        guard view.kind == .object else {
            throw ServiceFailure(
                .invalidInputData, "expected a clause: an object with a \"type\"")
        }
        var members = try MemberReader(view)
        let type = try members.string("type")
        let clause = try clause(type, &members, depth)
        try members.finish(as: "a clause of type \(quoted(type))")
        return clause
    }

    private mutating func clause(
        _ type: String, _ members: inout MemberReader, _ depth: Int
    ) throws(ServiceFailure) -> Clause {
        switch type {
        case "all": return .all
        case "eq": return .eq(try field(&members), try literal(&members, "value"))
        case "range": return try range(&members)
        case "prefix": return .prefix(try field(&members), try members.utf8("prefix"))
        case "like": return try like(&members)
        case "in": return try membership(&members)
        case "hasField": return try hasField(&members)
        case "contains": return .contains(try field(&members), try literal(&members, "value"))
        case "and":
            let clauses = try clauses(&members, depth, canBeNone: takesEmptyAnd)
            return clauses.isEmpty ? .all : .and(clauses)
        case "or": return .or(try clauses(&members, depth))
        case "not":
            let inner = try members.required("clause", "a clause")
            return .not(
                try ServiceFailure.inside("clause", try clause(inner, depth: depth + 1)))
        default:
            guard let type = GeoClauseParser.ClauseType(rawValue: type) else {
                throw members.failure("type", Self.unknown(type))
            }
            return .geo(try geo.clause(type, on: try field(&members), &members))
        }
    }

    private static func unknown(_ type: String) -> String {
        let geo = GeoClauseParser.ClauseType.allCases.map(\.rawValue).joined(separator: ", ")
        return "\(quoted(type)) is no type of clause; expected all, eq, range, prefix, like, in, "
            + "hasField, \(geo), contains, and, or, not"
    }

    private mutating func clauses(
        _ members: inout MemberReader, _ depth: Int, canBeNone: Bool = false
    ) throws(ServiceFailure) -> [Clause] {
        let array = try members.array("clauses", "an array of clauses")
        guard array.count > 0 || canBeNone else {
            throw members.failure("clauses", "expected at least one clause inside")
        }
        var result: [Clause] = []
        result.reserveCapacity(array.count)
        for (index, element) in zip(0..., array.elements) {
            result.append(
                try ServiceFailure.inside(
                    "clauses[\(index)]", try clause(element, depth: depth + 1)))
        }
        return result
    }

    private func field(_ members: inout MemberReader) throws(ServiceFailure) -> FieldPath {
        let path = FieldPath(utf8: try members.utf8("field"))
        if path.isCalculated { throw ServiceFailure.calculatedInClause.inside("field") }
        return path
    }

    private func literal(
        _ members: inout MemberReader, _ name: StaticString
    ) throws(ServiceFailure) -> Literal {
        let value = try members.required(name, Self.expectedLiteral)
        return try ServiceFailure.inside(name.description, try Self.literal(value))
    }

    private static let expectedLiteral = "a string, number, boolean, null or GeoPoint"

    private static func literal(_ value: JSONView) throws(ServiceFailure) -> Literal {
        switch value.kind {
        case .null: return .null
        case .bool: return .bool(value.bool!)
        case .number: return .number(value.number!)
        case .string: return .string(Array(value.utf8!))
        case .object where GeoPoint.isClaimed(by: value):
            return .point(try GeoPoint.validate(value))
        case .huge:
            throw ServiceFailure(
                .invalidInputData, "the number is outside the range of numbers")
        case .array, .object:
            throw ServiceFailure(.invalidInputData, "expected \(expectedLiteral)")
        }
    }

    private func range(_ members: inout MemberReader) throws(ServiceFailure) -> Clause {
        let field = try field(&members)
        let lower = try rangeLimit(&members, "lowerLimit", "lowerIncluded")
        let upper = try rangeLimit(&members, "upperLimit", "upperIncluded")
        switch (lower, upper) {
        case (nil, nil):
            throw ServiceFailure(
                .invalidInputData, "expected \"lowerLimit\", \"upperLimit\" or both")
        case (.number(let a), .number(let b)): return .range(field, .numbers(lower: a, upper: b))
        case (.number(let a), nil): return .range(field, .numbers(lower: a, upper: nil))
        case (nil, .number(let b)): return .range(field, .numbers(lower: nil, upper: b))
        case (.string(let a), .string(let b)): return .range(field, .strings(lower: a, upper: b))
        case (.string(let a), nil): return .range(field, .strings(lower: a, upper: nil))
        case (nil, .string(let b)): return .range(field, .strings(lower: nil, upper: b))
        case (.number, .string), (.string, .number):
            throw members.failure(
                "upperLimit", "both limits have to be of one kind: numbers or strings")
        }
    }

    private enum RangeLimit {
        case number(LiteralRange.Limit<JSONNumber>)
        case string(LiteralRange.Limit<[UInt8]>)
    }

    private func rangeLimit(
        _ members: inout MemberReader, _ name: StaticString, _ flag: StaticString
    ) throws(ServiceFailure) -> RangeLimit? {
        let included = try members.optionalBool(flag) ?? true
        guard let value = members.optional(name) else { return nil }
        if let number = value.number { return .number(.init(number, included: included)) }
        if let utf8 = value.utf8 { return .string(.init(Array(utf8), included: included)) }
        throw members.failure(
            name,
            value.kind == .huge
                ? "the number is outside the range of numbers" : "expected a number or a string")
    }

    private func membership(_ members: inout MemberReader) throws(ServiceFailure) -> Clause {
        let field = try field(&members)
        let values = try members.array("values", "an array of values")
        guard (1...limits.inValues).contains(values.count) else {
            throw members.failure(
                "values", "expected 1 to \(limits.inValues) values, not \(values.count)")
        }
        var literals: [Literal] = []
        literals.reserveCapacity(values.count)
        for (index, value) in zip(0..., values.elements) {
            literals.append(
                try ServiceFailure.inside("values[\(index)]", try Self.literal(value)))
        }
        return .isIn(field, literals)
    }

    private func like(_ members: inout MemberReader) throws(ServiceFailure) -> Clause {
        let field = try field(&members)
        let (text, ignoresCase) = (
            try members.utf8("pattern"), try members.optionalBool("ignoreCase") ?? false
        )
        do throws(InvalidPattern) {
            return .like(field, try LikePattern(text, ignoringCase: ignoresCase))
        } catch {
            throw members.failure("pattern", error.reason)
        }
    }

    private func hasField(_ members: inout MemberReader) throws(ServiceFailure) -> Clause {
        let field = try field(&members)
        guard let name = try members.optionalString("fieldType") else {
            return .hasField(field, nil)
        }
        guard let type = FieldType(rawValue: name) else {
            let known = FieldType.allCases.map(\.rawValue).joined(separator: ", ")
            throw members.failure("fieldType", "\(quoted(name)) is no type; expected \(known)")
        }
        return .hasField(field, type)
    }
}
