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
        if ranking.parts.isEmpty {
            ranked.sortBySlot()
        } else if ranking.keyIsExact {
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

extension [Ranked] {
    /// Below so many the counting of a radix sort does not pay.
    private static let few = 32

    /// Bits of a digit: what fits a page's hundreds of entries, and a million slots in three.
    private static let digitBits = Slot(7)

    /// Sorts by slot alone: a radix sort, a digit at a time from the lowest.
    mutating func sortBySlot() {
        guard count > Self.few else { return sort { $0.slot < $1.slot } }
        let highest = reduce(0) { $0 | $1.slot }
        let count = count
        let digits = 1 << Int(Self.digitBits)
        let lowest = Slot(digits - 1)
        withUnsafeMutableBufferPointer { own in
            withUnsafeTemporaryAllocation(of: Ranked.self, capacity: count) { other in
                withUnsafeTemporaryAllocation(of: Int32.self, capacity: digits) { places in
                    var (from, to) = (own, other)
                    var shift = Slot(0)
                    while shift < 32, highest >> shift != 0 {
                        places.initialize(repeating: 0)
                        for entry in from { places[Int(entry.slot >> shift & lowest)] += 1 }
                        var next: Int32 = 0
                        for digit in 0..<digits {
                            (places[digit], next) = (next, next + places[digit])
                        }
                        for entry in from {
                            let digit = Int(entry.slot >> shift & lowest)
                            to[Int(places[digit])] = entry
                            places[digit] += 1
                        }
                        swap(&from, &to)
                        shift += Self.digitBits
                    }
                    if from.baseAddress != own.baseAddress { _ = own.update(from: from) }
                }
            }
        }
    }
}
