/// The arcs of a line, found by place: a binary tree of balls over runs of consecutive arcs.
///
/// Consecutive arcs lie together, so the tree needs no sorting. Node 1 is the root, the children of
/// node i are 2i and 2i + 1, and each leaf is a run of arcs.
///
/// - Complexity: to make one O(n) for n arcs; a question O(log n + arcs about as near as the nearest
///   one), O(n) at worst.
struct ArcTree: Sendable {
    let arcs: [GreatCircleArc]
    private let balls: [Ball]
    private let firstLeaf: Int

    private static let run = 4

    init(_ arcs: [GreatCircleArc]) {
        let runs = (arcs.count + Self.run - 1) / Self.run
        var firstLeaf = 1
        while firstLeaf < runs { firstLeaf *= 2 }
        var balls = Array(repeating: Ball.empty, count: 2 * firstLeaf)
        for (number, arc) in arcs.enumerated() {
            let leaf = firstLeaf + number / Self.run
            let isFirst = number % Self.run == 0
            balls[leaf] = isFirst ? arc.ball : Ball(balls[leaf], arc.ball)
        }
        for node in stride(from: firstLeaf - 1, to: 0, by: -1) {
            let (a, b) = (balls[2 * node], balls[2 * node + 1])
            balls[node] = b.radius < 0 ? a : Ball(a, b)
        }
        self.arcs = arcs
        self.balls = balls
        self.firstLeaf = firstLeaf
    }

    /// The nearest arc in space.
    struct Nearest {
        /// How far it is: the bound of the search if none is nearer.
        fileprivate(set) var chord: Double
        /// The first one found; -1 if none is nearer than the bound.
        fileprivate(set) var arc = -1
        /// How far another one is that is as near but for the slack of the search; else anything
        /// that is farther.
        fileprivate(set) var runnerUp = Double.infinity
    }

    /// The arc that is nearest in space to a place.
    ///
    /// - Parameters:
    ///   - bound: no arc as far away as this is found.
    ///   - enough: a distance that ends the search, so that the arc may not be the nearest.
    ///   - slack: other arcs are as near if they are farther by no more than this.
    func nearest(
        to place: SIMD3<Double>, below bound: Double = .infinity, enough: Double = -1,
        slack: Double = 0
    ) -> Nearest {
        withSearch { search in
            var nearest = Nearest(chord: bound)
            search.descend(1, to: place, enough: enough, slack: slack, &nearest)
            return nearest
        }
    }

    /// Calls `body` with the arcs that are at most this far in space, from the first to the last,
    /// until it returns false.
    ///
    /// - Returns: whether `body` never returned false.
    @discardableResult
    func forEachArc(
        within chord: Double, of place: SIMD3<Double>, _ body: (_ arc: Int) -> Bool
    ) -> Bool {
        withSearch { $0.forEachArc(below: 1, within: chord, of: place, body) }
    }

    private func withSearch<Result>(_ body: (ArcSearch) -> Result) -> Result {
        arcs.withUnsafeBufferPointer { arcs in
            balls.withUnsafeBufferPointer { balls in
                body(ArcSearch(arcs: arcs, balls: balls, firstLeaf: firstLeaf))
            }
        }
    }

    fileprivate static func run(_ number: Int, of arcs: Int) -> Range<Int> {
        number * run..<min((number + 1) * run, arcs)
    }
}

/// The arrays of a tree during a search, which reads many places of them.
private struct ArcSearch {
    let arcs: UnsafeBufferPointer<GreatCircleArc>
    let balls: UnsafeBufferPointer<Ball>
    let firstLeaf: Int

    func descend(
        _ node: Int, to place: SIMD3<Double>, enough: Double, slack: Double,
        _ nearest: inout ArcTree.Nearest
    ) {
        guard nearest.chord > enough,
            balls[node].mayMeet(within: nearest.chord + slack, of: place)
        else { return }
        guard node >= firstLeaf else {
            let (a, b) = (2 * node, 2 * node + 1)
            let isFirstNearer =
                balls[a].squaredDistance(to: place) <= balls[b].squaredDistance(to: place)
            descend(isFirstNearer ? a : b, to: place, enough: enough, slack: slack, &nearest)
            descend(isFirstNearer ? b : a, to: place, enough: enough, slack: slack, &nearest)
            return
        }
        for arc in run(node) {
            let squared = arcs[arc].squaredChord(to: place)
            let reach = nearest.chord + slack
            guard squared <= reach * reach else { continue }
            let chord = squared.squareRoot()
            if chord < nearest.chord {
                nearest.runnerUp = nearest.chord
                nearest.chord = chord
                nearest.arc = arc
            } else {
                nearest.runnerUp = min(nearest.runnerUp, chord)
            }
        }
    }

    func forEachArc(
        below node: Int, within chord: Double, of place: SIMD3<Double>, _ body: (Int) -> Bool
    ) -> Bool {
        guard balls[node].mayMeet(within: chord, of: place) else { return true }
        guard node >= firstLeaf else {
            return forEachArc(below: 2 * node, within: chord, of: place, body)
                && forEachArc(below: 2 * node + 1, within: chord, of: place, body)
        }
        for arc in run(node) where arcs[arc].squaredChord(to: place) <= chord * chord {
            guard body(arc) else { return false }
        }
        return true
    }

    private func run(_ leaf: Int) -> Range<Int> { ArcTree.run(leaf - firstLeaf, of: arcs.count) }
}
