import BackendContract
import JSONText
import Objects
import QueryLanguage

/// The objects of a page, found but not yet fetched.
///
/// It is a class because it holds many references, which a copy would retain.
final class FoundPage {
    let execution: Execution
    private let matches: [Execution.Match]
    private let hasMore: Bool
    private let pages: PageWriter
    /// Whether a thread that other requests wait for should not write the page.
    let isCostly: Bool
    /// The objects and their ends, if they were written ahead.
    private var written: (text: [UInt8], ends: [Int])?

    /// - Parameter isBrief: whether other requests wait for this thread. What takes longer to write
    ///   than to find is then written ahead, within the same bounds.
    /// - Throws: `QUERY_TIMEOUT`, if the bounds are too narrow.
    init(
        _ planned: PlannedQuery, after key: PageKey?, within bounds: ReadBounds,
        isBrief: Bool = false
    ) throws(ServiceFailure) {
        let execution = planned.execution(within: bounds)
        let (matches, hasMore) = try execution.page(
            after: key, objects: planned.engine.pageObjects(planned.query.limit))
        let pages = PageWriter(execution, matches)
        // The distances that the page reports may have taken long.
        try execution.checkTime()
        isCostly = isBrief && pages.isCostly
        (self.execution, self.matches, self.hasMore, self.pages) = (
            execution, matches, hasMore, pages
        )
        if isBrief, !isCostly, pages.parses {
            var text = JSONWriter()
            let ends = try pages.write(to: &text, limit: planned.engine.limits.replyBytes)
            written = (text.bytes, ends)
        }
    }

    /// Writes as many of the matches as fit, at least one, and returns how the listing continues.
    func write(
        maximumBytes: Int, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> ReadEnd {
        let start = writer.count
        let ends = try objects(to: &writer, limit: maximumBytes)
        // Returns to the last object after which the next page's key, if there is one, still fits.
        for count in stride(from: ends.count, to: 0, by: -1) {
            let isLast = count == matches.count && !hasMore
            let key =
                isLast
                ? nil
                : execution.engine.keys.encode(
                    try key(behind: matches[count - 1]), for: execution.planned.query,
                    in: execution.planned.bucket)
            let size = ends[count - 1] - start + (key.map(ReadEnd.keyMemberBytes) ?? 0)
            if size <= maximumBytes || count == 1 {
                writer.truncate(to: ends[count - 1])
                return ReadEnd(count: count, nextPaginationKey: key)
            }
        }
        return ReadEnd(count: 0)
    }

    /// Appends the objects until they exceed a limit of bytes, and returns their ends.
    private func objects(
        to writer: inout JSONWriter, limit: Int
    ) throws(ServiceFailure) -> [Int] {
        guard let written else { return try pages.write(to: &writer, limit: limit) }
        let start = writer.count
        writer.raw(written.text)
        return written.ends.map { start + $0 }
    }

    private func key(behind match: Execution.Match) throws(ServiceFailure) -> PageKey {
        PageKey(
            sortKey: try execution.sortKey(of: match),
            creation: execution.state.records[Int(match.slot)].creation,
            id: ObjectID(
                trusted: String(
                    decoding: execution.state.id(of: match.slot), as: UTF8.self)))
    }
}
