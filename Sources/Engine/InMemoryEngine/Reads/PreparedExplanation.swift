import BackendContract
import JSONText
import Objects
import QueryLanguage

/// Describes how a query would run: the chosen path, its filters, its order and the rejected paths.
/// With `analyze` it also reports the cost of running the query.
final class PreparedExplanation: PreparedRead {
    private let planned: PlannedQuery
    private let key: PageKey?
    /// The plans, cheapest first.
    private let plans: [Plan]
    private let planning: Duration
    /// Whether the query is run.
    let isCostly: Bool

    init(
        _ query: Query, in bucket: BucketName, analyze: Bool, on engine: Engine
    ) throws(ServiceFailure) {
        let start = engine.clock.now
        key = try engine.pageKey(of: query, in: bucket)
        planned = PlannedQuery(
            query, in: bucket,
            pageObjects: query.aggregations.isEmpty ? engine.pageObjects(query.limit) : nil,
            on: engine)
        plans = planned.planner.plans()
        isCostly = analyze
        planning = start.duration(to: engine.clock.now)
    }

    func run(
        maximumBytes: Int, until stop: StopSignal?, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> ReadEnd {
        writer.byte(UInt8(ascii: "{"))
        write(plans[0], to: &writer)
        writer.raw(",\"filters\":[")
        writer.list(plans[0].filterClauses) { $0.write(to: &$1) }
        writer.raw("],\"documentFilter\":")
        plans[0].documentFilter.write(to: &writer)
        writer.key("order")
        writer.string(plans[0].ordering.name)
        writer.raw(",\"alternatives\":[")
        writer.list(plans.dropFirst()) { plan, writer in
            writer.byte(UInt8(ascii: "{"))
            write(plan, to: &writer)
            writer.byte(UInt8(ascii: "}"))
        }
        writer.raw("],\"summary\":[")
        writer.list(plans[0].summary(passedOver: plans.dropFirst())) { $1.string($0) }
        writer.byte(UInt8(ascii: "]"))
        writer.raw(",\"wouldHelp\":[")
        writer.list(planned.planner.missing.map(\.text).sorted()) { $1.string($0) }
        writer.byte(UInt8(ascii: "]"))
        if isCostly { try analyze(until: stop, into: &writer) }
        writer.byte(UInt8(ascii: "}"))
        return ReadEnd(count: 0)
    }

    private func write(_ plan: Plan, to writer: inout JSONWriter) {
        writer.raw("\"accessPath\":")
        writer.string(plan.path.name)
        if let field = plan.path.field {
            writer.key("field")
            writer.string(field.utf8)
        }
        writer.key("estimatedCandidates")
        writer.integer(plan.candidates)
        writer.key("estimatedDocuments")
        writer.integer(plan.documents)
        writer.key("estimatedMicroseconds")
        writer.integer(Int(plan.cost.rounded(.up)))
    }

    /// - Returns: the number of objects in the answer.
    private func run(_ execution: Execution) throws(ServiceFailure) -> Int {
        let query = planned.query
        guard query.aggregations.isEmpty else {
            var totals = Totals(of: query, on: planned.state, limits: planned.engine.limits)
            try execution.add(to: &totals)
            return 0
        }
        let objects = planned.engine.pageObjects(query.limit)
        return try execution.page(after: key, objects: objects).matches.count
    }

    private func analyze(
        until stop: StopSignal?, into writer: inout JSONWriter
    ) throws(ServiceFailure) {
        let clock = planned.engine.clock
        let start = clock.now
        let execution = planned.execution(within: planned.engine.bounds(until: stop))
        let objects = try run(execution)
        writer.raw(",\"analyze\":{\"candidatesVisited\":")
        writer.integer(execution.visited)
        writer.key("documentsRead")
        writer.integer(execution.documentsRead)
        writer.key("matches")
        writer.integer(execution.matched)
        writer.key("objects")
        writer.integer(objects)
        writer.key("planningMicroseconds")
        writer.integer(planning.microseconds)
        writer.key("executionMicroseconds")
        writer.integer(start.duration(to: clock.now).microseconds)
        writer.byte(UInt8(ascii: "}"))
    }
}

extension Duration {
    fileprivate var microseconds: Int64 {
        components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }
}
