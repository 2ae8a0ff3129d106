import SpatialIndex

/// The first so many of all slots it is given, in order.
struct BestRanked {
    private let ranking: SlotRanking
    private let limit: Int
    private let bound: SlotRanking.Bound?
    private var ranked: [Ranked] = []
    /// Nothing behind this one is wanted any more.
    private(set) var worst: Ranked?

    init(_ ranking: SlotRanking, limit: Int, behind bound: SlotRanking.Bound?) {
        self.ranking = ranking
        self.limit = limit
        self.bound = bound
    }

    mutating func insert(_ slot: Slot) { insert(ranking.rank(slot)) }

    /// Inserts a batch, whose places are fetched together.
    mutating func insert(contentsOf slots: UnsafeMutableBufferPointer<Slot>) {
        ranking.forEachRanked(slots) { insert($0) }
    }

    mutating func insert(_ new: Ranked) {
        if let worst, !ranking.precedes(new, worst) { return }
        if let bound, !ranking.isBehind(new, bound) { return }
        ranked.append(new)
        if ranked.count >= 2 * limit + 64 { shorten() }
    }

    /// The slots, in order.
    mutating func finish() -> [Ranked] {
        shorten()
        return ranked
    }

    private mutating func shorten() {
        if ranking.keyIsExact {
            ranked.sort { $0.key != $1.key ? $0.key < $1.key : $0.slot < $1.slot }
        } else {
            let ranking = self.ranking
            ranked.sort { ranking.precedes($0, $1) }
        }
        guard ranked.count >= limit else { return }
        ranked.removeLast(ranked.count - limit)
        worst = ranked.last
    }
}
