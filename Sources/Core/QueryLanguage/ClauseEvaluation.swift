import Geodesy
import Objects
import PlainJSON

extension Clause {
    /// Evaluates the clause on one object, as clients read it (with its predefined fields).
    ///
    /// - Complexity: for each leaf a look-up of its field among the object's members.
    public func evaluate(on object: JSONView) -> Truth {
        switch self {
        case .all: return .yes
        case .hasField(let field, let type):
            guard let value = field.value(in: object) else { return .no }
            return Truth(type.map { value.isOfType($0) } ?? true)
        case .and(let clauses):
            var result = Truth.yes
            for clause in clauses {
                result = result & clause.evaluate(on: object)
                if result == .no { return .no }
            }
            return result
        case .or(let clauses):
            var result = Truth.no
            for clause in clauses {
                result = result | clause.evaluate(on: object)
                if result == .yes { return .yes }
            }
            return result
        case .not(let clause): return !clause.evaluate(on: object)
        default: return leaf(on: object)
        }
    }

    /// A leaf that is unknown if its field is missing.
    private func leaf(on object: JSONView) -> Truth {
        switch self {
        case .eq(let field, let literal):
            return field.value(in: object).map { literal.equals($0) } ?? .unknown
        case .isIn(let field, let literals):
            guard let value = field.value(in: object) else { return .unknown }
            return literals.reduce(.no) { $0 | $1.equals(value) }
        case .range(let field, let range):
            return field.value(in: object).map { range.contains($0) } ?? .unknown
        case .prefix(let field, let prefix):
            guard let utf8 = field.value(in: object)?.utf8 else { return .unknown }
            return Truth(utf8.starts(with: prefix))
        case .like(let field, let pattern):
            guard let utf8 = field.value(in: object)?.utf8 else { return .unknown }
            return Truth(pattern.matches(utf8))
        case .contains(let field, let literal):
            return field.value(in: object).map { literal.isContained(in: $0) } ?? .unknown
        case .geo(let clause):
            let points = clause.field.value(in: object).map(GeoPoint.coordinates) ?? []
            return points.isEmpty ? .unknown : Truth(points.contains(where: clause.shape.contains))
        case .all, .hasField, .and, .or, .not: preconditionFailure("not such a leaf")
        }
    }
}

extension Literal {
    /// Whether a present value equals this one; unknown if the types cannot be compared.
    func equals(_ value: JSONView) -> Truth {
        switch self {
        case .null: return Truth(value.kind == .null)
        case .bool(let bool): return value.bool.map { Truth($0 == bool) } ?? .unknown
        case .number(let number): return value.number.map { Truth($0 == number) } ?? .unknown
        case .string(let utf8):
            return value.utf8.map { Truth($0.elementsEqualBytes(utf8)) } ?? .unknown
        case .point(let point):
            return GeoPoint.coordinate(of: value).map { Truth($0 == point) } ?? .unknown
        }
    }

    /// `contains`: a part of a string, or an element of an array.
    func isContained(in value: JSONView) -> Truth {
        if value.kind == .array {
            return Truth(value.elements.contains { equals($0) == .yes })
        }
        guard let text = value.utf8, case .string(let part) = self else { return .unknown }
        return Truth(text.containsBytes(part))
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether the bytes occur in a row; of UTF-8, whether the code points do.
    ///
    /// - Complexity: O(count), whatever the part: the C library's two-way search.
    public func containsBytes(_ part: [UInt8]) -> Bool {
        end(of: part) != nil
    }
}

extension LiteralRange {
    func contains(_ value: JSONView) -> Truth {
        switch self {
        case .numbers: value.number.map { Truth(contains(number: $0)) } ?? .unknown
        case .strings: value.utf8.map { Truth(contains(string: $0)) } ?? .unknown
        }
    }

    /// Whether a number lies within the limits; false for limits that are strings.
    public func contains(number: JSONNumber) -> Bool {
        guard case .numbers(let lower, let upper) = self else { return false }
        if let lower, number < lower.value || !lower.included && number == lower.value {
            return false
        }
        if let upper, upper.value < number || !upper.included && number == upper.value {
            return false
        }
        return true
    }

    /// Whether a string, as UTF-8, lies within the limits; false for limits that are numbers.
    public func contains(string: UnsafeBufferPointer<UInt8>) -> Bool {
        guard case .strings(let lower, let upper) = self else { return false }
        if let lower {
            let isBelow = string.lexicographicallyPrecedes(lower.value)
            if isBelow || !lower.included && string.elementsEqualBytes(lower.value) { return false }
        }
        if let upper {
            let isAbove = upper.value.lexicographicallyPrecedes(string)
            if isAbove || !upper.included && string.elementsEqualBytes(upper.value) { return false }
        }
        return true
    }
}

extension JSONView {
    func isOfType(_ type: FieldType) -> Bool {
        switch type {
        case .string: kind == .string
        case .integer: number?.isWhole ?? false
        case .decimal: number.map { !$0.isWhole } ?? false
        case .boolean: kind == .bool
        case .geoPoint: GeoPoint.isClaimed(by: self)
        case .array: kind == .array
        case .object: kind == .object && !GeoPoint.isClaimed(by: self)
        case .null: kind == .null
        }
    }
}
