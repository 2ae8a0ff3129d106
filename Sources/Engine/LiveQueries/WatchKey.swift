import Geodesy
import JSONText
import Objects
import QueryLanguage

/// What an index of watches finds a clause by. An object for which the clause is true has one of the
/// clause's keys.
enum WatchKey: Hashable {
    /// The object has this id.
    case id([UInt8])
    /// A field of the object has a value that equals this one.
    case value(FieldPath, Literal)
    /// A point at a field path lies in this box.
    case area(FieldPath, GeoBox)

    /// Keys beyond this number cost more than they spare.
    private static let most = 1_000

    private static let id = FieldPath("_id")

    /// The keys of a normalized clause; nil if an object without any key may satisfy it.
    static func keys(of clause: Clause) -> [WatchKey]? {
        guard let keys = allKeys(of: clause), keys.count <= most else { return nil }
        return Array(Set(keys))
    }

    private static func allKeys(of clause: Clause) -> [WatchKey]? {
        switch clause {
        case .eq(let field, let literal): [key(field, literal)]
        case .isIn(let field, let literals): literals.map { key(field, $0) }
        case .geo(let geo): geo.shape.bounds?.map { .area(geo.field, $0) }
        case .and(let clauses): clauses.compactMap(allKeys).min { cost(of: $0) < cost(of: $1) }
        case .or(let clauses):
            clauses.reduce([]) { keys, clause in
                keys.flatMap { keys in allKeys(of: clause).map { keys + $0 } }
            }
        case .all, .range, .prefix, .like, .hasField, .contains, .not: nil
        }
    }

    private static func key(_ field: FieldPath, _ literal: Literal) -> WatchKey {
        if field == id, case .string(let text) = literal { return .id(text) }
        return .value(field, literal)
    }

    /// About how often some of these keys are met in vain. Values need the document of each object
    /// that is written.
    private static func cost(of keys: [WatchKey]) -> Double {
        keys.reduce(0) { sum, key in
            switch key {
            case .id: sum + 1e-9
            case .area(_, let box): sum + 1e-6 + share(of: box)
            case .value: sum + 0.05
            }
        }
    }

    private static func share(of box: GeoBox) -> Double {
        let width = box.west <= box.east ? box.east - box.west : box.east - box.west + 360
        return width / 360 * (box.north - box.south) / 180
    }
}

extension Literal {
    /// The value that an equal literal has; nil for a value that equals none.
    init?(_ view: JSONView) {
        switch view.kind {
        case .null: self = .null
        case .bool: self = .bool(view.bool!)
        case .number: self = .number(view.number!)
        case .string: self = .string(Array(view.utf8!))
        case .object:
            guard let point = GeoPoint.coordinate(of: view) else { return nil }
            self = .point(point)
        case .array, .huge: return nil
        }
    }
}
