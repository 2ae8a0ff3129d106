import Objects

/// Finds out why a query finds nothing, from what is known of a bucket's fields.
///
/// A clause has a reason if it can be true of no object: its field does not occur, or never with a
/// type that can be compared. An `and` has the reasons of its parts; an `or` has them if each part has
/// one. What is negated is unknown for the same reasons, but only a leaf is looked at.
public struct HintSearch {
    private let fields: FieldSurvey
    /// The GeoPoint fields of all objects.
    private let geoFields: [FieldPath]
    private let place: FieldPath?
    /// How the objects that were looked at are called: `no object`, or `none of 10000 objects looked at`.
    private let none: String

    /// The most hints that one answer has.
    private static let mostHints = 8

    /// - Parameters:
    ///   - fields: the fields of some objects.
    ///   - isOfAll: whether these are all objects of the bucket.
    ///   - sampled: how many they are.
    ///   - geoFields: the GeoPoint fields of all objects.
    ///   - place: the bucket's place.
    public init(
        _ fields: FieldSurvey, isOfAll: Bool, sampled: Int, geoFields: [FieldPath],
        place: FieldPath?
    ) {
        (self.fields, self.geoFields, self.place) = (fields, geoFields, place)
        none = isOfAll ? "no object" : "none of \(sampled) objects looked at"
    }

    /// The reasons for which a query finds nothing; empty if none is known.
    public func hints(for query: Query) -> [QueryHint] {
        var hints = reasons(query.clause)
        for case .field(let field) in query.order.map(\.source) where isMissing(field) {
            hints.append(missing(field, ", which is in the order"))
        }
        var kept: [QueryHint] = []
        for hint in hints where kept.count < Self.mostHints && !kept.contains(hint) {
            kept.append(hint)
        }
        return kept
    }

    private func reasons(_ clause: Clause) -> [QueryHint] {
        switch clause {
        case .all, .not(.hasField), .not(.and), .not(.or), .not(.not): return []
        case .and(let parts): return parts.flatMap(reasons)
        case .or(let parts):
            let each = parts.map(reasons)
            return each.contains(where: \.isEmpty) ? [] : each.flatMap(\.self)
        case .not(let leaf): return reasons(leaf)
        case .geo(let clause): return noPlace(at: clause.field)
        case .eq(let field, let literal): return unlike(field, Self.types(of: literal))
        case .isIn(let field, let literals):
            let types = literals.map(Self.types)
            return unlike(field, types.contains(nil) ? nil : Set(types.compactMap(\.self).joined()))
        case .range(let field, .numbers): return unlike(field, [.integer, .decimal])
        case .range(let field, .strings), .prefix(let field, _), .like(let field, _):
            return unlike(field, [.string])
        case .contains(let field, .string): return unlike(field, [.string, .array])
        case .contains(let field, _): return unlike(field, [.array])
        case .hasField(let field, let type): return unlike(field, type.map { [$0] })
        }
    }

    /// The types whose values a literal may equal; nil if one may be anything.
    private static func types(of literal: Literal) -> Set<FieldType>? {
        switch literal {
        case .null: nil
        case .bool: [.boolean]
        case .number: [.integer, .decimal]
        case .string: [.string]
        case .point: [.geoPoint]
        }
    }

    private func noPlace(at field: FieldPath) -> [QueryHint] {
        guard !geoFields.contains(field) else { return [] }
        let nearest = nearestName(to: field.text, among: geoFields.map(\.text)) ?? place?.text
        return [
            QueryHint(
                .noPlace, "no object has a GeoPoint at \(quoted(field.text))", nearest: nearest,
                instead: "there are some at")
        ]
    }

    /// Why a field is never of one of these types, if it is not.
    ///
    /// - Parameter wanted: nil for any type.
    private func unlike(_ field: FieldPath, _ wanted: Set<FieldType>?) -> [QueryHint] {
        if isMissing(field) { return [missing(field)] }
        let types = fields.types(at: field)
        guard let wanted, !types.isEmpty, types.isDisjoint(with: wanted) else { return [] }
        let present = FieldType.allCases.filter(types.contains).map(\.plural)
        return [
            QueryHint(
                .otherTypes,
                "the field \(quoted(field.text)) holds \(Self.unique(present).joined(separator: " and ")), "
                    + "and is compared with "
                    + Self.unique(FieldType.allCases.filter(wanted.contains).map(\.plural))
                    .joined(separator: " or "))
        ]
    }

    private static func unique(_ words: [String]) -> [String] {
        words.enumerated().filter { !words[..<$0].contains($1) }.map(\.element)
    }

    /// Whether no object that was looked at has a field. Predefined fields are not known here.
    private func isMissing(_ field: FieldPath) -> Bool {
        fields.omitted == 0 && field.utf8.first != UInt8(ascii: "_")
            && fields.types(at: field).isEmpty
    }

    private func missing(_ field: FieldPath, _ addition: String = "") -> QueryHint {
        QueryHint(
            .noSuchField, "\(none) has the field \(quoted(field.text))\(addition)",
            nearest: nearestName(to: field.text, among: fields.paths))
    }
}

extension FieldType {
    /// How values of the type are called in a sentence; both kinds of numbers alike.
    fileprivate var plural: String {
        switch self {
        case .string: "texts"
        case .integer, .decimal: "numbers"
        case .boolean: "booleans"
        case .geoPoint: "GeoPoints"
        case .array: "arrays"
        case .object: "objects"
        case .null: "nulls"
        }
    }
}
