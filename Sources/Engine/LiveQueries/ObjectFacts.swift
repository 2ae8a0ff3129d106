import BackendContract
import Geodesy
import JSONText
import Objects
import QueryLanguage

/// What clauses ask of one object at one state. Points come from the index; the document is fetched
/// and parsed at most once, and only if somebody asks for it.
///
/// A parser serves one object at a time: its next document ends what the former gave.
final class ObjectFacts {
    let object: PinnedObject
    private let parser: JSONParser
    private var text: [UInt8]?
    private var parsed: JSONView?
    private var knownPoints: [(field: FieldPath, points: [Coordinate])] = []

    init(_ object: PinnedObject, _ parser: JSONParser) {
        self.object = object
        self.parser = parser
    }

    /// The points at a field path.
    func points(at field: FieldPath) -> [Coordinate] {
        if let known = knownPoints.first(where: { $0.field == field }) { return known.points }
        let points = object.points(at: field)
        knownPoints.append((field, points))
        return points
    }

    /// The document, as clients read it.
    func document() throws(ServiceFailure) -> [UInt8] {
        if let text { return text }
        let document = try object.document()
        text = document
        return document
    }

    /// The parsed document.
    func view() throws(ServiceFailure) -> JSONView {
        if let parsed { return parsed }
        do {
            let view = try parser.parse(try document())
            parsed = view
            return view
        } catch let failure as ServiceFailure {
            throw failure
        } catch {
            throw ServiceFailure(.undefined, "a stored document is not JSON: \(error)")
        }
    }
}

extension Clause {
    /// Whether the clause holds for an object.
    func truth(of facts: ObjectFacts) throws(ServiceFailure) -> Truth {
        switch self {
        case .all: return .yes
        case .geo(let clause): return clause.truth(of: facts)
        case .and(let clauses):
            var result = Truth.yes
            for clause in clauses {
                result = result & (try clause.truth(of: facts))
                if result == .no { return .no }
            }
            return result
        case .or(let clauses):
            var result = Truth.no
            for clause in clauses {
                result = result | (try clause.truth(of: facts))
                if result == .yes { return .yes }
            }
            return result
        case .not(let clause): return !(try clause.truth(of: facts))
        case .eq, .range, .prefix, .like, .isIn, .hasField, .contains:
            return evaluate(on: try facts.view())
        }
    }

    /// Whether a spatial leaf of the clause has another truth for one object than for another.
    func differsInPlace(_ old: ObjectFacts, _ new: ObjectFacts) -> Bool {
        switch self {
        case .geo(let clause): clause.truth(of: old) != clause.truth(of: new)
        case .and(let clauses), .or(let clauses):
            clauses.contains { $0.differsInPlace(old, new) }
        case .not(let clause): clause.differsInPlace(old, new)
        default: false
        }
    }

    /// The same clause, normalized, with what needs no document before what does.
    var cheapestFirst: Clause { normalized.sorted }

    private var sorted: Clause {
        switch self {
        case .and(let clauses): .and(Self.sorted(clauses))
        case .or(let clauses): .or(Self.sorted(clauses))
        default: self
        }
    }

    private static func sorted(_ clauses: [Clause]) -> [Clause] {
        let parts = clauses.map(\.sorted)
        return parts.filter { !$0.needsDocument } + parts.filter(\.needsDocument)
    }

    private var needsDocument: Bool {
        switch self {
        case .all, .geo: false
        case .and(let clauses), .or(let clauses): clauses.contains(where: \.needsDocument)
        case .not(let clause): clause.needsDocument
        default: true
        }
    }
}

extension GeoClause {
    fileprivate func truth(of facts: ObjectFacts) -> Truth {
        let points = facts.points(at: field)
        return points.isEmpty ? .unknown : Truth(points.contains(where: shape.contains))
    }
}
