import Backend
import JSONText
import Objects
import QueryLanguage

extension InMemoryEngine {
    /// Appends how a query would run: the chosen path, what it filters and how it orders, the
    /// paths passed over; with `analyze` also what running it took.
    public func explain(
        _ request: PageRequest, analyze: Bool, into writer: inout JSONWriter
    ) throws(ServiceFailure) {
        let start = ContinuousClock.now
        let key = try pageKey(of: request)
        let snapshot = self.snapshot
        let box = box(of: request.bucket, in: snapshot) ?? BucketBox(BucketState())
        let planner = planner(for: request.query, in: box)
        let plans = planner.plans()
        let planned = ContinuousClock.now
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
        writer.list(planner.missing.map(\.text).sorted()) { $1.string($0) }
        writer.byte(UInt8(ascii: "]"))
        if analyze {
            try self.analyze(
                request.query, plans[0], after: key, box, snapshot, planning: planned - start,
                into: &writer)
        }
        writer.byte(UInt8(ascii: "}"))
    }

    /// How a query would run, in one line without the values that it asks for.
    public func outline(of request: PageRequest) -> String {
        let box = snapshot.buckets[request.bucket] ?? BucketBox(BucketState())
        return planner(for: request.query, in: box).cheapest().outline
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

    private func analyze(
        _ query: Query, _ plan: Plan, after key: PageKey?, _ box: BucketBox,
        _ snapshot: Snapshot, planning: Duration, into writer: inout JSONWriter
    ) throws(ServiceFailure) {
        let start = ContinuousClock.now
        let (execution, objects) = try parsers.withParser { parser throws(ServiceFailure) in
            let execution = Execution(
                engine: self, snapshot: snapshot, box: box, query: query, plan: plan,
                parser: parser, effort: .any, deadline: deadline)
            let page = try execution.page(
                after: key, objects: pageObjects(query))
            return (execution, page.matches.count)
        }
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
        writer.integer((ContinuousClock.now - start).microseconds)
        writer.byte(UInt8(ascii: "}"))
    }
}

extension Duration {
    fileprivate var microseconds: Int64 {
        components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }
}
