import Backend
import Geodesy
import JSONText
import Objects
import QueryLanguage
import SpatialIndex

/// From a clause, an order and cheap statistics to the ways a query can run, cheapest first.
///
/// Costs are microseconds of rough estimate: they have to rank the paths, and to tell a query that
/// a connection's own thread can take from one that it cannot.
struct Planner {
    let state: BucketState
    let clause: Clause
    let order: [OrderKey]
    /// Objects that the page will hold; nil when every match is wanted.
    let pageObjects: Int?

    private enum Cost {
        /// A candidate out of the index or the slots.
        static let candidate = 0.04
        /// A candidate held against a polygon.
        static let polygon = 0.25
        /// A document fetched and parsed.
        static let document = 1.2
        /// A clause tested on a parsed document.
        static let test = 0.1
        /// A candidate put in order.
        static let sorting = 0.3
    }

    /// All plans, cheapest first; there is always one.
    func plans() -> [Plan] {
        let conjuncts = clause.normalized.conjuncts
        var plans: [Plan] = [plan(.scan, candidates: state.count, residual: conjuncts)]
        for (index, conjunct) in conjuncts.enumerated() {
            var others = conjuncts
            others.remove(at: index)
            for (path, candidates) in paths(for: conjunct) {
                // A union finds more than its clause accepts: which is tested then.
                let residual = if case .union = path { conjuncts } else { others }
                plans.append(plan(path, candidates: candidates, residual: residual))
            }
        }
        return plans.enumerated().sorted {
            ($0.element.cost, $0.offset) < ($1.element.cost, $1.offset)
        }
        .map(\.element)
    }

    /// The paths that find every object for which a clause is true, with the candidates of each.
    private func paths(for conjunct: Clause) -> [(AccessPath, Int)] {
        switch conjunct {
        case .geobox(let field, let box):
            guard let index = state.fields[field] else { return [(.nothing, 0)] }
            return [(.box(field, box), index.estimate(in: box))]
        case .geopolygon(let field, let polygon):
            guard let index = state.fields[field] else { return [(.nothing, 0)] }
            return [(.polygon(field, polygon), index.estimate(in: polygon))]
        case .geodistance(let clause):
            guard let index = state.fields[clause.field] else { return [(.nothing, 0)] }
            let within = clause.radiusMeters.map { index.estimate(within: $0, of: clause.center) }
            let candidates = within ?? index.count
            let circle = (AccessPath.circle(clause), candidates)
            guard let name = clause.putDistanceInto,
                order == [OrderKey(.distance(name: name))]
            else { return [circle] }
            return [circle, (.nearest(clause), candidates)]
        case .eq(let field, let value) where field.text == PredefinedField.id.rawValue:
            let slots = slots(of: [value])
            return [(.ids(slots), slots.count)]
        case .isIn(let field, let values) where field.text == PredefinedField.id.rawValue:
            let slots = slots(of: values)
            return [(.ids(slots), slots.count)]
        case .range(_, let range) where range.isEmpty: return [(.nothing, 0)]
        case .or(let clauses): return union(of: clauses).map { [$0] } ?? []
        default: return []
        }
    }

    /// The cheapest path of each branch together, if every branch has one.
    private func union(of branches: [Clause]) -> (AccessPath, Int)? {
        var paths: [AccessPath] = []
        var candidates = 0
        for branch in branches {
            let known = branch.conjuncts.flatMap { self.paths(for: $0) }.filter {
                if case .nearest = $0.0 { false } else { true }
            }
            guard let best = known.min(by: { $0.1 < $1.1 }) else { return nil }
            paths.append(best.0)
            candidates += best.1
        }
        return (.union(paths), candidates)
    }

    private func slots(of values: [Literal]) -> [Slot] {
        let found = values.compactMap { value -> Slot? in
            guard case .string(let utf8) = value else { return nil }
            return state.slot(of: ObjectID(trusted: String(decoding: utf8, as: UTF8.self)))
        }
        return Set(found).sorted()
    }

    private func plan(_ path: AccessPath, candidates: Int, residual: [Clause]) -> Plan {
        let placeFilters = residual.filter(\.isPlaceTest)
        let rest = residual.filter { !$0.isPlaceTest }
        let byCreation = order.isEmpty
        let isOrdered: Bool
        if case .nearest = path { isOrdered = true } else { isOrdered = byCreation }
        let sortsByFields = !isOrdered && order.contains { $0.isField }
        var plan = Plan(
            path: path, placeFilters: placeFilters,
            documentFilter: rest.isEmpty ? .all : (rest.count == 1 ? rest[0] : .and(rest)),
            isOrdered: isOrdered, sortsByFields: sortsByFields, candidates: candidates, cost: 0)
        // A path in order stops when the page is full; how soon depends on what the filters pass.
        var tested = candidates
        if isOrdered, let pageObjects {
            let share = residual.reduce(1.0) { $0 * selectivity(of: $1) }
            let wanted = Double(pageObjects + 1) / max(share, 1e-9)
            tested = Int(min(Double(candidates), wanted))
        }
        switch path {
        case .scan, .nearest: plan.candidates = tested
        case .nothing, .ids, .box, .polygon, .circle, .union: break
        }
        var polygons = placeFilters.count { if case .geopolygon = $0 { true } else { false } }
        if case .polygon = path { polygons += 1 }
        plan.cost =
            Double(plan.candidates) * (Cost.candidate + Double(polygons) * Cost.polygon)
            + Double(tested) * (plan.readsDocuments ? documentCost(residual) : 0)
            + (isOrdered ? 0 : Double(tested) * Cost.sorting)
        return plan
    }

    private func documentCost(_ residual: [Clause]) -> Double {
        Cost.document + Cost.test * Double(residual.reduce(0) { $0 + $1.nodes })
    }

    /// The share of objects a clause is thought to pass; places are known, the rest is a guess.
    private func selectivity(of clause: Clause) -> Double {
        let objects = Double(max(state.count, 1))
        switch clause {
        case .geobox(let field, let box):
            return Double(state.fields[field]?.estimate(in: box) ?? 0) / objects
        case .geopolygon(let field, let polygon):
            return Double(state.fields[field]?.estimate(in: polygon) ?? 0) / objects
        case .geodistance(let clause):
            guard let index = state.fields[clause.field] else { return 0 }
            let within = clause.radiusMeters.map { index.estimate(within: $0, of: clause.center) }
            return Double(within ?? index.count) / objects
        case .all: return 1
        case .eq, .prefix, .contains: return 0.1
        case .isIn, .range: return 0.25
        case .hasField: return 0.9
        case .and(let clauses): return clauses.reduce(1) { $0 * selectivity(of: $1) }
        case .or(let clauses): return min(1, clauses.reduce(0) { $0 + selectivity(of: $1) })
        case .not(let clause): return max(0, 1 - selectivity(of: clause))
        }
    }
}

extension Clause {
    /// How many clauses the tree has.
    fileprivate var nodes: Int {
        switch self {
        case .and(let clauses), .or(let clauses): clauses.reduce(1) { $0 + $1.nodes }
        case .not(let clause): 1 + clause.nodes
        case .isIn(_, let values): 1 + values.count / 8
        default: 1
        }
    }

    /// Whether the clause, a tree perhaps, looks at nothing but places.
    var isPlaceTest: Bool {
        switch self {
        case .geobox, .geopolygon, .geodistance: true
        case .and(let clauses), .or(let clauses): clauses.allSatisfy(\.isPlaceTest)
        case .not(let clause): clause.isPlaceTest
        default: false
        }
    }

    /// A test of places on an object whose places `place` tells.
    func evaluate(at place: (FieldPath) -> Coordinate?) -> Truth {
        switch self {
        case .geobox(let field, let box):
            place(field).map { Truth(box.contains($0)) } ?? .unknown
        case .geopolygon(let field, let polygon):
            place(field).map { Truth(polygon.contains($0)) } ?? .unknown
        case .geodistance(let clause):
            place(clause.field).map { Truth(clause.accepts($0)) } ?? .unknown
        case .and(let clauses): clauses.reduce(.yes) { $0 & $1.evaluate(at: place) }
        case .or(let clauses): clauses.reduce(.no) { $0 | $1.evaluate(at: place) }
        case .not(let clause): !clause.evaluate(at: place)
        default: preconditionFailure("not a test of places")
        }
    }
}

extension OrderKey {
    var isField: Bool {
        if case .field = source { return true }
        return false
    }
}
