/// The order in which a page wants its matches.
protocol MatchOrder {
    associatedtype Match
    /// A place in the order, between matches.
    associatedtype Bound

    func precedes(_ a: Match, _ b: Match) -> Bool

    /// Whether a match comes behind a place.
    func isAfter(_ match: Match, _ bound: Bound) -> Bool

    func sort(_ matches: inout [Match])
}

/// The first so many of all matches it is given, in order.
///
/// - Complexity: O(log limit) comparisons a match, one for most once there are enough.
struct BestMatches<Order: MatchOrder> {
    private let order: Order
    private let limit: Int
    private let bound: Order.Bound?
    private var matches: [Order.Match] = []
    /// Nothing behind this one is wanted any more.
    private(set) var worst: Order.Match?

    init(_ order: Order, limit: Int, behind bound: Order.Bound?) {
        self.order = order
        self.limit = limit
        self.bound = bound
    }

    mutating func insert(_ new: Order.Match) {
        if let worst, !order.precedes(new, worst) { return }
        if let bound, !order.isAfter(new, bound) { return }
        matches.append(new)
        if matches.count >= 2 * limit + 64 { shorten() }
    }

    /// The matches, in order.
    mutating func finish() -> [Order.Match] {
        shorten()
        return matches
    }

    private mutating func shorten() {
        order.sort(&matches)
        guard matches.count >= limit else { return }
        matches.removeLast(matches.count - limit)
        worst = matches.last
    }
}
