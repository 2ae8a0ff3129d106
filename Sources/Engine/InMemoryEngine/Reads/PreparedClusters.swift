import BackendContract
import Geodesy
import JSONText
import Objects
import PersistentStructures
import QueryLanguage
import SpatialIndex

/// Counts matches by the cells of the world's grid.
///
/// If every object matches, whole nodes of the index are counted unvisited. Otherwise the matches are
/// found first: the index counts a set of many, of few each is placed by itself.
final class PreparedClusters: PreparedClusterRead {
    private let planned: PlannedQuery
    private let query: ClusterQuery
    private let field: FieldPath?
    let isCostly: Bool

    /// The number of points that are counted in about a quarter of a millisecond, and of objects that
    /// are read and written in it.
    private static let (fewPoints, fewDocuments) = (2_000, 16)

    /// The read, or one that says that the client has its result.
    static func prepared(
        _ query: ClusterQuery, in bucket: BucketName, by principal: String?,
        on engine: Engine
    ) -> any PreparedRead {
        let snapshot = engine.snapshot
        let bucketView = engine.bucketView(of: bucket, in: snapshot) ?? .empty
        if let state = query.knownState, state == engine.name(of: bucketView) {
            return PreparedSameState(
                answer: ClusterAnswer(
                    change: snapshot.change, state: state, level: query.window.level,
                    clusters: nil))
        }
        return PreparedClusters(query, in: bucket, bucketView, of: snapshot, by: principal, engine)
    }

    private init(
        _ query: ClusterQuery, in bucket: BucketName, _ bucketView: BucketView,
        of snapshot: Snapshot, by principal: String?, _ engine: Engine
    ) {
        func planned(_ clause: Clause) -> PlannedQuery {
            PlannedQuery(
                Query(clause: clause, fields: query.fields), in: bucket, bucketView, of: snapshot,
                pageObjects: nil, by: principal, on: engine)
        }
        self.query = query
        field = query.field ?? bucketView.contents.place
        var cheapest = planned(query.clause)
        if let field, !query.window.isWorld, !cheapest.plan.selectsAll {
            cheapest = planned(Clause.and([query.clause, query.clause(of: field)]).normalized)
        }
        let points = field.flatMap { cheapest.state.fields[$0]?.pointCount } ?? 0
        let documents = query.fields?.isEmpty == true ? 0 : cheapest.state.count
        isCostly =
            max(points, cheapest.state.count) > Self.fewPoints || documents > Self.fewDocuments
            || !cheapest.isLight
        self.planned = cheapest
    }

    var outline: (bucket: BucketName, plan: String)? { planned.outline }
    var clauseShape: String? { planned.clauseShape }

    func mayRun(
        since begin: Int64, after waits: Int, until stop: StopSignal,
        _ ready: @escaping @Sendable (ServiceFailure?) -> Void
    ) -> Bool { planned.mayRun(since: begin, after: waits, until: stop, ready) }

    func clusters(
        maximumBytes: Int, until stop: StopSignal?
    ) throws(ServiceFailure) -> ClusterAnswer {
        let bounds = planned.engine.bounds(until: stop)
        planned.requestColumns()
        let execution = planned.execution(within: bounds)
        let cellLimit = planned.engine.limits.clusterCells
        var tally = GridTally(query.window, atMost: cellLimit)
        let index = field.flatMap { planned.state.fields[$0] }
        var matches = Matches.all
        if let index { matches = try execution.count(planned, of: index, into: &tally) }
        planned.engine.planCounters.count(planned.plan.path.kind)
        guard !tally.isOverfull else {
            throw ServiceFailure(
                .invalidInputData,
                "the objects are in more than \(cellLimit) cells; fewer \"bits\" or a smaller "
                    + "\"box\" make it fewer", at: "bits")
        }
        var clusters = Clusters(tally)
        if let index, let most = query.listedObjects {
            if clusters.total <= most {
                let slots =
                    switch matches {
                    case .all: try slots(of: planned, within: bounds)
                    case .few(let slots): slots
                    case .many(let slots): slots.slots
                    }
                clusters.list(slots, at: query.window, of: index)
            } else {
                clusters.locate(index)
            }
        }
        let state =
            query.knownState.map { _ in planned.engine.name(of: planned.planner.bucketView) }
        return try clusters.answer(execution, state: state, maximumBytes: maximumBytes)
    }

    func run(
        maximumBytes: Int, until stop: StopSignal?, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> ReadEnd {
        let answer = try clusters(maximumBytes: maximumBytes, until: stop)
        let start = writer.count
        answer.write(to: &writer)
        guard writer.count - start <= maximumBytes else {
            throw .tooManyAlone(maximumBytes: planned.engine.limits.replyBytes)
        }
        return ReadEnd(count: answer.total)
    }

    /// The slots that have a place in the window, and perhaps some others.
    private func slots(
        of planned: PlannedQuery, within bounds: ReadBounds
    ) throws(ServiceFailure) -> [Slot] {
        guard let field else { return [] }
        let inside = PlannedQuery(
            Query(clause: query.clause(of: field)), in: planned.bucket, planned.planner.bucketView,
            of: planned.snapshot, pageObjects: nil, on: planned.engine)
        return try inside.execution(within: bounds).allMatches()
    }
}

/// Says that the client has the answer of the present state.
private final class PreparedSameState: PreparedClusterRead {
    private let answer: ClusterAnswer
    let isCostly = false

    init(answer: ClusterAnswer) { self.answer = answer }

    func clusters(maximumBytes: Int, until stop: StopSignal?) -> ClusterAnswer { answer }

    func run(
        maximumBytes: Int, until stop: StopSignal?, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> ReadEnd {
        answer.write(to: &writer)
        return ReadEnd(count: 0)
    }
}

extension ClusterQuery {
    /// Selects the objects that have a place in the window, and perhaps some near it.
    fileprivate func clause(of field: FieldPath) -> Clause {
        Clause.geo(GeoClause(field, .box(window.enclosingBox)))
    }
}

/// What matches; slots without an object may be among them.
private enum Matches {
    case all
    case few([Slot])
    case many(SlotSet)
}

extension Execution {
    /// A larger share of the slots is counted as a set. The index then has the places of all on the
    /// grid, which cost as much to make as some 20 microseconds for each match of this share.
    private static let countedShare = 1.0 / 256
    /// The nanoseconds that it takes to find a point's cell.
    private static let placing = 100

    /// - Returns: the matches.
    fileprivate func count(
        _ planned: PlannedQuery, of index: PointIndex, into tally: inout GridTally
    ) throws(ServiceFailure) -> Matches {
        if planned.plan.selectsAll {
            _ = index.count(into: &tally, until: { bounds.areOver })
            try checkTime()
            return .all
        }
        let matches = try matches(planned, fewAtMost: Int(Double(index.count) * Self.countedShare))
        switch matches {
        case .all: break
        case .few(let slots):
            for slot in slots {
                let points = index.position(of: slot).points
                try allow(Self.placing * points.count)
                for point in points {
                    tally.add(slot, at: WorldGrid(point), isOneOfSeveral: points.count > 1)
                }
            }
        case .many(let slots):
            _ = index.count(slots, into: &tally, until: { bounds.areOver })
        }
        try checkTime()
        return matches
    }

    private func matches(
        _ planned: PlannedQuery, fewAtMost limit: Int
    ) throws(ServiceFailure) -> Matches {
        if let slots = planned.planner.slotsByColumn(ratherThan: planned.plan, &budget) {
            return slots.count > limit ? .many(slots) : .few(slots.slots)
        }
        let slots = try allMatches()
        return slots.count > limit
            ? .many(SlotSet(slots, below: bucketView.state.slotCount)) : .few(slots)
    }
}
