/// The order of the matches on a page.
protocol MatchOrder {
    associatedtype Match
    /// A place between matches in the order.
    associatedtype Bound

    func precedes(_ a: Match, _ b: Match) -> Bool

    /// Whether a match comes after a place.
    func isAfter(_ match: Match, _ bound: Bound) -> Bool

    func sort(_ matches: inout [Match])
}

/// Keeps the first `limit` of all matches that it is given, in order.
///
/// - Complexity: O(log limit) comparisons a match; one comparison for most matches once `limit` is
///   reached.
struct BestMatches<Order: MatchOrder> {
    private let order: Order
    private let limit: Int
    private let bound: Order.Bound?
    private var matches: [Order.Match] = []
    /// The last match that can still be in the result; matches after it are not wanted.
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

    /// Returns the matches in order.
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
