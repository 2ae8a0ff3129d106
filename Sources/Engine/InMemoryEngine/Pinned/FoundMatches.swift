import BackendContract
import JSONText
import Objects
import QueryLanguage

/// The matches of a query on a pinned snapshot.
///
/// `@unchecked Sendable`: by contract, one thread at a time writes it and uses its execution.
final class FoundMatches: FoundObjects, @unchecked Sendable {
    private let planned: PlannedQuery
    private let execution: Execution
    private let matches: [Execution.Match]
    let hasMore: Bool

    init(
        _ planned: PlannedQuery, atMost count: Int, within bounds: ReadBounds
    ) throws(ServiceFailure) {
        self.planned = planned
        execution = planned.execution(within: bounds)
        (matches, hasMore) = try execution.page(after: nil, objects: count)
        planned.engine.planCounters.count(planned.plan.path.kind)
    }

    var objects: [(creation: ChangeNumber, change: ChangeNumber)] {
        matches.map {
            let record = execution.state.records[Int($0.slot)]
            return (record.creation, record.change)
        }
    }

    func write(
        _ positions: Range<Int>, maximumBytes: Int, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> [Int] {
        execution.budget.bounds = planned.engine.bounds()
        let start = writer.count
        var ends: [Int] = []
        var next = positions.lowerBound
        while next < positions.upperBound, ends.isEmpty || writer.count - start < maximumBytes {
            let part = Array(matches[next..<min(next + Self.atOnce, positions.upperBound)])
            let pages = PageWriter(execution, part)
            try execution.checkTime()
            if !ends.isEmpty { writer.byte(UInt8(ascii: ",")) }
            ends += try pages.write(to: &writer, limit: maximumBytes - (writer.count - start))
            next += part.count
            while ends.count > 1, ends.last! - start > maximumBytes {
                ends.removeLast()
                next = positions.upperBound  // it is full
            }
        }
        writer.truncate(to: ends.last ?? start)
        return ends
    }

    /// The number of objects whose documents are fetched together.
    private static let atOnce = 256
}
