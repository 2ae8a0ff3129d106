/// The ranking of a page while there is time. Afterwards it measures no more distances to compare
/// matches with equal ranks, and the search fails.
struct BoundedRanking: MatchOrder {
    let ranking: SlotRanking
    let execution: Execution

    func precedes(_ a: Ranked, _ b: Ranked) -> Bool {
        if a.key != b.key { return a.key < b.key }
        return isOver ? a.slot < b.slot : ranking.precedes(a, b)
    }

    func isAfter(_ ranked: Ranked, _ bound: SlotRanking.Bound) -> Bool {
        !isOver && ranking.isAfter(ranked, bound)
    }

    private var isOver: Bool { execution.isOver(before: ranking.comparisonNanoseconds) }

    func sort(_ matches: inout [Ranked]) { ranking.sort(&matches, by: precedes) }
}
