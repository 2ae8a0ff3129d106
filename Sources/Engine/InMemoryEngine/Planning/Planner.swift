import Geodesy
import JSONText
import Objects
import PersistentStructures
import QueryLanguage
import Runtime

/// Derives the possible plans of a query, cheapest first, from its clause, its order and cheap
/// statistics.
///
/// Costs are rough estimates in microseconds. They have to rank the paths, and to separate the
/// queries that a connection's own thread can run from those that it cannot.
///
/// It is a class because it holds many references, which a copy would retain.
final class Planner: Sendable {
    let bucketView: BucketView
    let order: [OrderKey]
    /// The number of objects on the page; nil if every match is wanted.
    let pageObjects: Int?
    private let fields: QueriedFields
    private let conjuncts: [Conjunct]
    private let ranking: SlotRanking?
    /// Excludes expired objects that have not been removed yet; `share` is the share of objects
    /// that remains.
    private let visibility: (test: SlotPredicate, share: Double)?
    /// The distances that the page reports for its objects.
    let reported: [ReportedDistance]
    /// The cost of the distances that the page reports for one object.
    private let perReport: Double
    private let aggregated: Plan.AggregatedFields
    /// The field paths for which a column would have helped.
    var missing: Set<FieldPath> { fields.missing }

    /// A clause that has to be true, with its estimates.
    struct Conjunct: Sendable {
        let clause: Clause
        /// The test in memory; nil if the clause needs the documents.
        let test: SlotPredicate?
        /// The approximate number of objects that satisfy it, if an index or a column provides one.
        let known: Int?
        /// The selectivity of the clause: the share of objects that satisfy it, counted, sampled or
        /// guessed.
        let share: Double

        init(_ clause: Clause, _ test: SlotPredicate?, _ sample: inout SlotSample) {
            self.clause = clause
            self.test = test
            known = test?.knownCount
            share =
                if let known {
                    Double(known) / Double(max(sample.slotCount, 1))
                } else {
                    test.flatMap { sample.share(of: $0) } ?? clause.guessedShare
                }
        }
    }

    /// - Parameters:
    ///   - query: its order counts only for a page, its aggregations only if every match is wanted.
    ///   - pageObjects: the number of objects on the page; nil if every match is wanted.
    ///   - clock: bounds the time of samples.
    init(bucketView: BucketView, query: Query, pageObjects: Int?, _ clock: ServiceClock) {
        self.bucketView = bucketView
        order = pageObjects == nil ? [] : query.order
        self.pageObjects = pageObjects
        var fields = QueriedFields(of: bucketView)
        var sample = SlotSample(of: bucketView.state.slotCount, clock)
        conjuncts = query.clause.normalized.conjuncts.map {
            Conjunct($0, SlotPredicate($0, on: &fields), &sample)
        }
        let reported = query.clause.reportedDistances
        (self.reported, perReport) = (
            reported,
            reported.reduce(0) {
                $0 + $1.measure.nanoseconds / 1_000 * fields.pointsPerObject($1.field)
            }
        )
        ranking = SlotRanking(order, reported, on: &fields)
        var aggregated = Plan.AggregatedFields()
        for field in pageObjects == nil ? query.aggregatedFields : [] {
            if fields.column(field) == nil {
                aggregated.inDocuments.append(field)
            } else {
                aggregated.inColumns.append(field)
            }
        }
        self.aggregated = aggregated
        self.fields = fields
        visibility = bucketView.expiredBy.map { time in
            let test = SlotPredicate.unexpired(by: time, bucketView.state.expiries)
            let share = sample.share(of: test) ?? 1
            // If the sample contains no match, a walk may have to skip all objects.
            return (test, share < 0.005 ? 1e-9 : share)
        }
    }

    /// All plans, cheapest first. There is always at least one.
    func plans() -> [Plan] {
        options().map(plan).enumerated().sorted {
            ($0.element.cost, $0.offset) < ($1.element.cost, $1.offset)
        }
        .map(\.element)
    }

    /// The first of `plans()`. Most other plans are excluded by a lower bound of their cost,
    /// without being built.
    func cheapest() -> Plan {
        let options = options()
        let first = options.indices.min { options[$0].leastCost < options[$1].leastCost }!
        var (best, position) = (plan(options[first]), first)
        var built = 1
        for other in options.indices
        where other != first && options[other].leastCost <= best.cost {
            let plan = plan(options[other])
            if (plan.cost, other) < (best.cost, position) { (best, position) = (plan, other) }
            built += 1
            guard built < Self.mostBuilt else { break }
        }
        return best
    }

    /// A path before its cost is estimated.
    private struct Option {
        let path: AccessPath
        let candidates: Int
        /// The index of the conjunct that the path itself satisfies.
        let driver: Int?
        /// The cost of the candidates alone, which is a lower bound of the plan's cost.
        let leastCost: Double
    }

    private func options() -> [Option] {
        var options: [Option] = []
        options.reserveCapacity(2 + 2 * conjuncts.count)
        func add(_ path: AccessPath, _ candidates: Int, driver: Int? = nil) {
            let visited = self.candidates(on: path, of: candidates, share: share(without: driver))
            options.append(
                Option(
                    path: path, candidates: candidates, driver: driver,
                    leastCost: Cost.base + visited * perCandidate(path)))
        }
        add(.scan, bucketView.state.count)
        if let path = orderedPath() { add(path, bucketView.state.count) }
        for (index, conjunct) in conjuncts.enumerated() {
            forEachPath(for: conjunct.clause, known: conjunct.known) { path, candidates in
                // A union finds more objects than its clause accepts, so the clause has to be
                // tested.
                if case .union = path {
                    add(path, candidates)
                } else {
                    add(path, candidates, driver: index)
                }
            }
        }
        return options
    }

    private func share(without driver: Int?) -> Double {
        var share = visibility?.share ?? 1.0
        for position in conjuncts.indices where position != driver {
            share *= conjuncts[position].share
            // The product only falls.
            guard share > 1e-9 else { break }
        }
        return max(share, 1e-9)
    }

    /// The slots that satisfy the query, those without an object perhaps included, if one test of a
    /// narrow column decides that, and if to scan the column is cheaper than a plan. They are not
    /// valid if the budget is spent.
    func slotsByColumn(ratherThan plan: Plan, _ budget: inout WorkBudget) -> SlotSet? {
        let slotCount = Double(bucketView.state.slotCount)
        guard conjuncts.count == 1, visibility == nil, slotCount * Cost.tested < plan.cost,
            case .cell(let cell)? = conjuncts[0].test
        else { return nil }
        return cell.column.slots(passing: cell.test) { budget.allows(WorkBudget.testing($0)) }
    }

    // MARK: Paths

    /// Calls `body` with each path that finds every object that satisfies a clause, and with the
    /// number of its candidates.
    ///
    /// - Parameter known: the approximate number of these objects, if it is already known.
    private func forEachPath(
        for conjunct: Clause, known: Int? = nil, _ body: (AccessPath, Int) -> Void
    ) {
        switch conjunct {
        case .geo(let clause):
            guard let index = fields.index(clause.field) else { return body(.nothing, 0) }
            let candidates = known ?? index.estimate(in: clause.shape)
            body(.geo(clause, index), candidates)
            guard let measure = clause.report(orderedBy: order)?.measure,
                let radiusMeters = clause.shape.radiusMeters(by: measure)
            else { return }
            body(.nearest(clause, index, by: measure, within: radiusMeters), candidates)
        case .eq(let field, let value) where field.isID: ids([value], body)
        case .isIn(let field, let values) where field.isID: ids(values, body)
        case .range(_, let range) where range.isEmpty: body(.nothing, 0)
        case .eq(let field, _), .range(let field, _), .prefix(let field, _):
            lookup(conjunct, field, known, body)
        case .isIn(let field, let values): union(of: values.map { .eq(field, $0) }, body)
        case .or(let clauses): union(of: clauses, body)
        default: break
        }
    }

    private func lookup(
        _ leaf: Clause, _ field: FieldPath, _ known: Int?, _ body: (AccessPath, Int) -> Void
    ) {
        guard let (index, column) = bucketView.state.columns.index(field),
            let range = ColumnRange(leaf)
        else { return }
        let candidates = known ?? OrderedWalk(index, column, range: range).count
        var isOneValue = false
        if case .eq = leaf { isOneValue = true }
        body(.lookup(field, range, isOneValue: isOneValue), candidates)
    }

    /// The path along the order of the first sort key's column, if that column has an order.
    private func orderedPath() -> AccessPath? {
        guard pageObjects != nil, ranking != nil, let first = order.first,
            case .field(let field) = first.source, bucketView.state.columns.index(field) != nil
        else { return nil }
        return .ordered(field, descending: first.descending)
    }

    /// The union of the cheapest path of each branch, if every branch has a path.
    private func union(of branches: [Clause], _ body: (AccessPath, Int) -> Void) {
        var paths: [AccessPath] = []
        var candidates = 0
        for branch in branches {
            var best: (path: AccessPath, candidates: Int)?
            for conjunct in branch.conjuncts {
                forEachPath(for: conjunct) { path, candidates in
                    if case .nearest = path { return }
                    if candidates < best?.candidates ?? .max { best = (path, candidates) }
                }
            }
            guard let best else { return }
            paths.append(best.path)
            candidates += best.candidates
        }
        body(.union(paths), candidates)
    }

    private func ids(_ values: [Literal], _ body: (AccessPath, Int) -> Void) {
        let found = values.compactMap { value -> Slot? in
            guard case .string(let utf8) = value else { return nil }
            return bucketView.state.slot(
                of: ObjectID(trusted: String(decoding: utf8, as: UTF8.self)))
        }
        let slots = Set(found).sorted()
        body(.ids(slots), slots.count)
    }

    // MARK: Requests for orders

    /// Field paths whose columns, if they had an order, would make the query much cheaper than a
    /// plan.
    ///
    /// - Parameter gain: the factor by which the query has to become cheaper.
    func wantedOrders(beyond plan: Plan, gain: Double) -> Set<FieldPath> {
        var wanted: Set<FieldPath> = []
        func consider(_ field: FieldPath, _ candidates: Double) {
            let columns = bucketView.state.columns
            guard columns.ready(field) != nil, columns.index(field) == nil else { return }
            if candidates * Cost.walked * gain < plan.cost { wanted.insert(field) }
        }
        let share = conjuncts.reduce(1) { $0 * $1.share }
        if let pageObjects, ranking != nil, case .field(let field)? = order.first?.source {
            consider(field, Double(pageObjects + 1) / max(share, 1e-9))
        }
        for conjunct in conjuncts {
            switch conjunct.clause {
            case .eq(let field, _), .range(let field, _), .prefix(let field, _),
                .isIn(let field, _):
                guard conjunct.test != nil else { continue }
                consider(field, conjunct.share * Double(bucketView.state.count))
            default: break
            }
        }
        return wanted
    }

    // MARK: Plans

    private func plan(_ option: Option) -> Plan {
        var tests = visibility.map { [$0] } ?? []
        var (tested, read): ([Clause], [Clause]) = ([], [])
        for (position, conjunct) in conjuncts.enumerated() where position != option.driver {
            if let test = conjunct.test {
                tests.append((test, conjunct.share))
                tested.append(conjunct.clause)
            } else {
                read.append(conjunct.clause)
            }
        }
        var plan = Plan(
            path: option.path, filter: SlotFilter(tests), filterClauses: tested,
            documentFilter: read.isEmpty ? .all : (read.count == 1 ? read[0] : .and(read)),
            ordering: ordering(of: option.path), ranking: ranking, aggregated: aggregated,
            candidates: 0, documents: 0, cost: 0, countedMatches: countedMatches)
        let visited = candidates(
            on: option.path, of: option.candidates, share: share(without: option.driver))
        estimate(&plan, candidates: visited)
        return plan
    }

    private var countedMatches: Int? {
        guard conjuncts.count == 1, visibility == nil, case .cell? = conjuncts[0].test
        else { return nil }
        return conjuncts[0].known
    }

    private func ordering(of path: AccessPath) -> Plan.Ordering {
        if pageObjects == nil { return .unordered }
        if order.isEmpty { return path.isByCreation ? .found : .ranked }
        switch path {
        case .nearest: return .found
        case .ordered where order.count == 1: return .found
        default: return ranking == nil ? .documents : .ranked
        }
    }

    /// A path in order stops when the page is full. How soon that is depends on the selectivity of
    /// the filters.
    private func candidates(on path: AccessPath, of all: Int, share: Double) -> Double {
        guard stopsEarly(path), let pageObjects else { return Double(all) }
        return min(Double(all), Double(pageObjects + 1) / share)
    }

    private func perCandidate(_ path: AccessPath) -> Double {
        switch path {
        case .scan: Cost.scanned
        case .ordered: Cost.walked
        case .nearest(_, let index, let measure, _):
            // Of several points each is found, and then the distance of each is computed.
            index.hasSeveral
                ? index.pointsPerSlot * (Cost.walked + measure.nanoseconds / 1_000)
                : Cost.walked
        case .nothing, .ids, .lookup: Cost.candidate
        case .geo(let clause, let index):
            (Cost.candidate + clause.shape.searchNanoseconds / 1_000) * index.pointsPerSlot
        case .union(let paths): paths.reduce(Cost.candidate) { max($0, perCandidate($1)) }
        }
    }

    /// As many candidates as are tested and measured in about 0.1 ms by these estimates, which are far
    /// too low for some lines.
    private func batch(of plan: Plan) -> Int {
        let perCandidate = plan.filter.cost / 1_000 + perReport
        return perCandidate * Double(SlotPredicate.batch) > 100
            ? max(1, Int(100 / perCandidate)) : SlotPredicate.batch
    }

    /// The cost of placing a match in the result order, which may take distances.
    private var perRanked: Double {
        order.reduce(Cost.ranked) { cost, key in
            guard case .distance(let name) = key.source,
                let report = reported.first(where: { $0.name == name })
            else { return cost }
            let others = fields.pointsPerObject(report.field) - 1
            return cost + others * report.measure.nanoseconds / 1_000
        }
    }

    private func estimate(_ plan: inout Plan, candidates: Double) {
        plan.candidates = Int(candidates.rounded(.up))
        let passed = candidates * plan.filter.share
        let documents = plan.readsDocuments ? passed : 0
        plan.batch = batch(of: plan)
        plan.documents = Int(documents.rounded(.up))
        plan.cost = Cost.base + candidates * (perCandidate(plan.path) + plan.filter.cost / 1_000)
        plan.cost += documents * (Cost.document + Cost.test * Double(plan.documentFilter.nodes))
        switch plan.ordering {
        case .found: if case .nearest = plan.path { plan.cost += passed * Cost.ranked }
        case .ranked: plan.cost += passed * (order.isEmpty ? Cost.scanned : perRanked)
        case .documents: plan.cost += passed * perRanked
        case .unordered: plan.cost += passed * Cost.tallied * Double(aggregated.all.count)
        }
        if let pageObjects, !reported.isEmpty {
            plan.cost += min(passed, Double(pageObjects)) * perReport
        }
    }

    private func stopsEarly(_ path: AccessPath) -> Bool {
        switch (ordering(of: path), path) {
        case (.found, .scan), (.found, .nearest), (.found, .ordered), (.ranked, .ordered): true
        default: false
        }
    }
}

extension FieldPath {
    fileprivate var isID: Bool { utf8.elementsEqual(PredefinedField.id.rawValue.utf8) }
}
