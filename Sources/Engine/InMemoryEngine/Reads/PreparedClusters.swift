import Backend
import Geodesy
import JSONText
import Objects
import PersistentStructures
import QueryLanguage
import SpatialIndex

/// Counts matches by the cells of the world's grid.
///
/// If every object matches, whole nodes of the index are counted unvisited. Otherwise the matches are
/// found first: many are marked in a set that a walk over the index asks, of few each is placed by
/// itself.
final class PreparedClusters: PreparedRead {
    private let planned: PlannedQuery
    private let window: GridWindow
    private let field: FieldPath?
    let isCostly: Bool

    /// The number of objects that are counted in about a quarter of a millisecond.
    private static let fewObjects = 2_000

    init(
        _ query: ClusterQuery, in bucket: BucketName, by principal: String?,
        on engine: InMemoryEngine
    ) {
        var planned = PlannedQuery(
            Query(clause: query.clause, fields: query.fields), in: bucket, by: principal,
            on: engine)
        window = query.window
        field = query.field ?? planned.state.firstGeoField
        if let field, !window.isWorld, !planned.plan.selectsAll {
            let box = Clause.geo(GeoClause(field, .box(window.enclosingBox)))
            planned = PlannedQuery(
                Query(clause: .and([query.clause, box]).normalized, fields: query.fields),
                in: bucket, by: principal, on: engine)
        }
        isCostly = planned.state.count > Self.fewObjects || !planned.isLight
        self.planned = planned
    }

    var outline: (bucket: BucketName, plan: String)? { planned.outline }

    func run(
        maximumBytes: Int, until stop: StopSignal?, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> ReadEnd {
        let bounds = planned.engine.bounds(until: stop)
        planned.requestColumns()
        let planned = planned.awaitingColumns(within: bounds)
        let execution = planned.execution(within: bounds)
        let cellLimit = planned.engine.limits.clusterCells
        var tally = GridTally(window, atMost: cellLimit)
        if let field, let index = planned.state.fields[field] {
            try execution.count(planned.plan, of: index, into: &tally)
        }
        planned.engine.planCounters.count(planned.plan)
        guard !tally.isOverfull else {
            throw ServiceFailure(
                .invalidInputData,
                "the objects are in more than \(cellLimit) cells; fewer \"bits\" or a smaller "
                    + "\"box\" make it fewer", at: "bits")
        }
        let clusters = Clusters(tally, planned.snapshot.change)
        try clusters.write(
            execution, planned.query, maximumBytes: maximumBytes, to: &writer)
        return ReadEnd(count: clusters.total)
    }
}

extension BucketState {
    /// The first field path by name at which some object has a GeoPoint.
    fileprivate var firstGeoField: FieldPath? {
        fields.keys.min { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}

extension Execution {
    /// The time to place a point on the grid, as a multiple of that to ask whether a slot is marked.
    private static let placingCost = 16

    fileprivate func count(
        _ plan: Plan, of index: PointIndex, into tally: inout GridTally
    ) throws(ServiceFailure) {
        if plan.selectsAll {
            _ = index.count(into: &tally, until: { bounds.areOver })
            return try checkTime()
        }
        var matches: [Slot] = []
        try forEachMatch { matches.append($0) }
        if matches.count > index.count / Self.placingCost {
            let marks = SlotMarks(matches, of: bucketView.state.slotCount)
            _ = index.count(
                into: &tally, where: { marks.contains($0) }, until: { bounds.areOver })
            return try checkTime()
        }
        for slot in matches where !isOver {
            let points = index.position(of: slot).points
            for point in points {
                tally.add(slot, at: WorldGrid(point), isOneOfSeveral: points.count > 1)
            }
        }
        try checkTime()
    }
}

/// A set of slots.
private struct SlotMarks {
    private var words: [UInt64]

    init(_ slots: [Slot], of slotCount: Int) {
        words = Array(repeating: 0, count: (slotCount + 63) / 64)
        for slot in slots { words[Int(slot / 64)] |= 1 << UInt64(slot % 64) }
    }

    @inline(__always)
    func contains(_ slot: Slot) -> Bool { words[Int(slot / 64)] >> UInt64(slot % 64) & 1 == 1 }
}

/// The answer: cells by row and column, each with its number of objects and their mean, or with its
/// only object.
private struct Clusters {
    private let cells: [(cell: GridCell, sum: GridTally.Sum)]
    private let level: Int
    private let change: ChangeNumber
    let total: Int

    init(_ tally: GridTally, _ change: ChangeNumber) {
        cells = tally.sorted()
        level = tally.window.level
        total = cells.reduce(0) { $0 + $1.sum.count }
        self.change = change
    }

    func write(
        _ execution: Execution, _ query: Query, maximumBytes: Int, to writer: inout JSONWriter
    ) throws(ServiceFailure) {
        let start = writer.count
        let alone = cells.filter { $0.sum.count == 1 }.map {
            Execution.Match(slot: $0.sum.slot)
        }
        var objects = JSONWriter()
        let ends = try PageWriter(execution, query, alone).write(
            to: &objects, limit: maximumBytes)
        guard ends.count == alone.count else { throw tooLong(execution) }
        let texts = objects.bytes
        var next = 0
        writer.raw("{\"change\":")
        writer.integer(change)
        writer.key("total")
        writer.integer(total)
        writer.raw(",\"clusters\":[")
        writer.list(cells) { item, writer in
            writer.raw("{\"cell\":\"")
            writeName(of: item.cell, to: &writer)
            writer.raw("\",\"count\":")
            writer.integer(item.sum.count)
            if item.sum.count == 1 {
                writer.key("object")
                // A comma stands between two objects.
                let begin = next == 0 ? 0 : ends[next - 1] + 1
                writer.raw(Array(texts[begin..<ends[next]]))
                next += 1
            } else {
                writer.key("center")
                Self.write(item.sum.center, to: &writer)
            }
            writer.byte(UInt8(ascii: "}"))
        }
        writer.raw("]}")
        guard writer.count - start <= maximumBytes else { throw tooLong(execution) }
    }

    private func writeName(of cell: GridCell, to writer: inout JSONWriter) {
        writer.integer(level)
        writer.byte(UInt8(ascii: "/"))
        writer.integer(cell.column)
        writer.byte(UInt8(ascii: "/"))
        writer.integer(cell.row)
    }

    private static func write(_ point: Coordinate, to writer: inout JSONWriter) {
        writer.raw("{\"_type\":\"point\",\"lat\":")
        writer.double((point.latitude * 1e7).rounded() / 1e7)
        writer.key("lon")
        writer.double((point.longitude * 1e7).rounded() / 1e7)
        writer.byte(UInt8(ascii: "}"))
    }

    private func tooLong(_ execution: Execution) -> ServiceFailure {
        ServiceFailure(
            .queryNotSupported,
            "the objects that are alone in their cells make the answer longer than "
                + "\(execution.engine.limits.replyBytes) bytes; name fewer \"fields\"", at: "fields"
        )
    }
}
