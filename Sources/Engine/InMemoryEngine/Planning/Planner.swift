import Columns
import Geodesy
import JSONText
import Objects
import PersistentStructures
import QueryLanguage

/// Derives the possible plans of a query, cheapest first, from its clause, its order and cheap
/// statistics.
///
/// Costs are rough estimates in microseconds. They have to rank the paths, and to separate the
/// queries that a connection's own thread can run from those that it cannot.
struct Planner {
    let bucketView: BucketView
    let order: [OrderKey]
    /// The number of objects on the page; nil if every match is wanted.
    let pageObjects: Int?
    private let conjuncts: [Conjunct]
    private let ranking: SlotRanking?
    /// Excludes expired objects that have not been removed yet; `share` is the share of objects
    /// that remains.
    private let visibility: (test: SlotPredicate, share: Double)?
    /// The distances that the page reports for its objects.
    private let reported: [ReportedDistance]
    /// The average number of points of an object, by field path, where it is more than one.
    private let severalPoints: [FieldPath: Double]
    private let aggregated: Plan.AggregatedFields
    /// The field paths for which a column would have helped.
    let missing: Set<FieldPath>

    /// A clause that has to be true, with its estimates.
    struct Conjunct {
        let clause: Clause
        /// The test in memory; nil if the clause needs the documents.
        let test: SlotPredicate?
        /// The approximate number of objects that satisfy it, if an index or a column provides one.
        let known: Int?
        /// The selectivity of the clause: the share of objects that satisfy it, counted, sampled or
        /// guessed.
        let share: Double

        init(_ clause: Clause, _ test: SlotPredicate?, on bucket: BucketView) {
            self.clause = clause
            self.test = test
            known = test?.knownCount
            if let known {
                share = Double(known) / Double(max(bucket.state.slotCount, 1))
            } else if let test {
                share = SlotFilter.sampledShare(of: test, bucket.state.slotCount)
            } else {
                share = clause.guessedShare
            }
        }
    }

    /// - Parameters:
    ///   - query: its order counts only for a page, its aggregations only if every match is wanted.
    ///   - pageObjects: the number of objects on the page; nil if every match is wanted.
    init(bucketView: BucketView, query: Query, pageObjects: Int?) {
        let clause = query.clause
        self.bucketView = bucketView
        order = pageObjects == nil ? [] : query.order
        self.pageObjects = pageObjects
        var missing: Set<FieldPath> = []
        conjuncts = clause.normalized.conjuncts.map { clause in
            let test = SlotPredicate(clause, on: bucketView, missing: &missing)
            return Conjunct(clause, test, on: bucketView)
        }
        ranking = SlotRanking(order, of: clause, on: bucketView, missing: &missing)
        reported = clause.reportedDistances
        var severalPoints: [FieldPath: Double] = [:]
        for field in clause.fields {
            let points = bucketView.state.fields[field]?.pointsPerSlot ?? 1
            if points > 1 { severalPoints[field] = points }
        }
        self.severalPoints = severalPoints
        var aggregated = Plan.AggregatedFields()
        for field in pageObjects == nil ? query.aggregatedFields : [] {
            if bucketView.state.columns.ready(field) == nil {
                aggregated.inDocuments.append(field)
            } else {
                aggregated.inColumns.append(field)
            }
        }
        missing.formUnion(aggregated.inDocuments)
        self.aggregated = aggregated
        self.missing = missing
        visibility = bucketView.expiredBy.map { time in
            let test = SlotPredicate.unexpired(by: time, bucketView.state.expiries)
            let share = SlotFilter.sampledShare(of: test, bucketView.state.slotCount)
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
        let costs = options.map(leastCost)
        let first = costs.indices.min { costs[$0] < costs[$1] }!
        var (best, position) = (plan(options[first]), first)
        for other in costs.indices where other != first && costs[other] <= best.cost {
            let plan = plan(options[other])
            if (plan.cost, other) < (best.cost, position) { (best, position) = (plan, other) }
        }
        return best
    }

    /// A path before its cost is estimated.
    private struct Option {
        let path: AccessPath
        let candidates: Int
        /// The index of the conjunct that the path itself satisfies.
        let driver: Int?
    }

    private func options() -> [Option] {
        var options: [Option] = []
        options.reserveCapacity(2 + 2 * conjuncts.count)
        options.append(Option(path: .scan, candidates: bucketView.state.count, driver: nil))
        if let path = orderedPath() {
            options.append(Option(path: path, candidates: bucketView.state.count, driver: nil))
        }
        for (index, conjunct) in conjuncts.enumerated() {
            for (path, candidates) in paths(for: conjunct.clause, known: conjunct.known) {
                // A union finds more objects than its clause accepts, so the clause has to be
                // tested.
                let driver: Int? = if case .union = path { nil } else { index }
                options.append(Option(path: path, candidates: candidates, driver: driver))
            }
        }
        return options
    }

    /// The cost of an option's candidates alone, which is a lower bound of the plan's cost.
    private func leastCost(of option: Option) -> Double {
        Cost.base + candidates(of: option, share: share(without: option.driver))
            * perCandidate(option.path)
    }

    private func share(without driver: Int?) -> Double {
        var share = visibility?.share ?? 1.0
        for position in conjuncts.indices where position != driver {
            share *= conjuncts[position].share
        }
        return max(share, 1e-9)
    }

    /// The slots that satisfy the query, those without an object perhaps included, if one test of a
    /// narrow column decides that, and if to scan the column is cheaper than a plan.
    func slotsByColumn(ratherThan plan: Plan) -> SlotSet? {
        let slotCount = Double(bucketView.state.slotCount)
        guard conjuncts.count == 1, visibility == nil, slotCount * Cost.tested < plan.cost,
            case .cell(let test, let column)? = conjuncts[0].test
        else { return nil }
        return column.slots(passing: test)
    }

    // MARK: Paths

    /// The paths that find every object that satisfies a clause, with the number of candidates of
    /// each.
    ///
    /// - Parameter known: the approximate number of these objects, if it is already known.
    private func paths(for conjunct: Clause, known: Int? = nil) -> [(AccessPath, Int)] {
        switch conjunct {
        case .geo(let clause):
            guard let index = bucketView.state.fields[clause.field] else { return [(.nothing, 0)] }
            let candidates = known ?? index.estimate(in: clause.shape)
            let all = (AccessPath.geo(clause), candidates)
            guard let measure = clause.report(orderedBy: order)?.measure,
                let radiusMeters = clause.shape.radiusMeters(by: measure)
            else { return [all] }
            return [all, (.nearest(clause, by: measure, within: radiusMeters), candidates)]
        case .eq(let field, let value) where field.isID: return [ids([value])]
        case .isIn(let field, let values) where field.isID: return [ids(values)]
        case .range(_, let range) where range.isEmpty: return [(.nothing, 0)]
        case .eq(let field, _), .range(let field, _), .prefix(let field, _):
            return lookup(conjunct, field, known).map { [$0] } ?? []
        case .isIn(let field, let values):
            return union(of: values.map { .eq(field, $0) }).map { [$0] } ?? []
        case .or(let clauses): return union(of: clauses).map { [$0] } ?? []
        default: return []
        }
    }

    private func lookup(
        _ leaf: Clause, _ field: FieldPath, _ known: Int?
    ) -> (AccessPath, Int)? {
        guard let (index, column) = bucketView.state.columns.index(field),
            let range = ColumnRange(leaf)
        else { return nil }
        let candidates = known ?? OrderedWalk(index, column, range: range).count
        var isOneValue = false
        if case .eq = leaf { isOneValue = true }
        return (.lookup(field, range, isOneValue: isOneValue), candidates)
    }

    /// The path along the order of the first sort key's column, if that column has an order.
    private func orderedPath() -> AccessPath? {
        guard pageObjects != nil, ranking != nil, let first = order.first,
            case .field(let field) = first.source, bucketView.state.columns.index(field) != nil
        else { return nil }
        return .ordered(field, descending: first.descending)
    }

    /// The union of the cheapest path of each branch, if every branch has a path.
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

    private func ids(_ values: [Literal]) -> (AccessPath, Int) {
        let found = values.compactMap { value -> Slot? in
            guard case .string(let utf8) = value else { return nil }
            return bucketView.state.slot(
                of: ObjectID(trusted: String(decoding: utf8, as: UTF8.self)))
        }
        let slots = Set(found).sorted()
        return (.ids(slots), slots.count)
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
            candidates: 0, documents: 0, cost: 0)
        estimate(&plan, candidates: candidates(of: option, share: share(without: option.driver)))
        return plan
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
    private func candidates(of option: Option, share: Double) -> Double {
        let all = Double(option.candidates)
        guard stopsEarly(option.path), let pageObjects else { return all }
        return min(all, Double(pageObjects + 1) / share)
    }

    private func perCandidate(_ path: AccessPath) -> Double {
        switch path {
        case .scan: Cost.scanned
        case .ordered: Cost.walked
        case .nearest(let clause, let measure, _):
            // Of several points each is found, and then the distance of each is computed.
            pointsPerObject(clause.field) > 1
                ? pointsPerObject(clause.field) * (Cost.walked + measure.nanoseconds / 1_000)
                : Cost.walked
        case .nothing, .ids, .lookup: Cost.candidate
        case .geo(let clause):
            (Cost.candidate + clause.shape.searchNanoseconds / 1_000)
                * pointsPerObject(clause.field)
        case .union(let paths): paths.reduce(Cost.candidate) { max($0, perCandidate($1)) }
        }
    }

    /// The cost of the distances that the page reports for one object.
    private var perReport: Double {
        reported.reduce(0) { $0 + $1.measure.nanoseconds / 1_000 * pointsPerObject($1.field) }
    }

    /// As many candidates as are tested and measured in about 0.1 ms by these estimates, which are far
    /// too low for some lines.
    private func batch(of plan: Plan) -> Int {
        let perCandidate = plan.filter.cost / 1_000 + perReport
        return perCandidate * Double(SlotPredicate.batch) > 100
            ? max(32, Int(100 / perCandidate)) : SlotPredicate.batch
    }

    /// The average number of points that an object has at a field path.
    private func pointsPerObject(_ field: FieldPath) -> Double {
        severalPoints[field] ?? 1
    }

    /// The cost of placing a match in the result order, which may take distances.
    private var perRanked: Double {
        order.reduce(Cost.ranked) { cost, key in
            guard case .distance(let name) = key.source,
                let report = reported.first(where: { $0.name == name })
            else { return cost }
            let others = pointsPerObject(report.field) - 1
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
