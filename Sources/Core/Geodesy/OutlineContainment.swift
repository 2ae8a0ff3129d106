/// Whether every point of one outline lies in another, edges included; told exactly.
///
/// Both are laid out in one plane, `b` as often as it meets `a`: a longitude may have several places
/// there, and parts of `b` may meet at the antimeridian without a gap.
///
/// Lines in lines: edges of `b` on the same line as an edge of `a` have to cover it.
///
/// Otherwise `b` is an area, and what has to be told is whether a face of the arrangement of all edges,
/// or an edge of a line, lies in `a` and not in `b`. Each of these has corners: vertices of `a`,
/// vertices of `b`, and places where edges cross between their ends. At such a crossing `a` leaves
/// `b` along the edge, unless something else of `b` is there: a vertex, or an edge of another part
/// along the antimeridian. At a vertex on an edge the `Fan` tells. A vertex on no edge of the other set
/// lies in it or outside as a whole ring or line does, up to where that meets an edge.
///
/// - Complexity: O(k log n) for k edges within the bounds of the other outline.
struct OutlineContainment {
    private let a: TurnedOutline
    /// The places of `b`.
    private let b: [TurnedOutline]
    private let isLine: Bool

    init(of a: Outline, in b: Outline) {
        self.a = TurnedOutline(outline: a, turn: 0)
        self.b = a.turns(of: b).map { TurnedOutline(outline: b, turn: $0) }
        isLine = !a.isArea
    }

    /// Nil if it has been ended before.
    func isThere(until isOver: () -> Bool) -> Bool? {
        guard let outline = b.first?.outline else { return false }
        guard outline.isArea else { return isLine ? isCovered(until: isOver) : false }
        guard a.runVertices.allSatisfy({ isInB($0) }) else { return false }
        guard let meetings = meetings(until: isOver) else { return nil }
        guard case .vertices(let points) = meetings else { return false }
        var count = EdgeCount()
        for point in points.union(isLine ? [] : verticesOfB()) {
            guard isInB(around: point) else { return false }
            count.add()
            if count.isOver(isOver) { return nil }
        }
        return isLine
            || b.allSatisfy { b in
                b.runVertices.allSatisfy { !isInside($0) || isInB(around: $0) }
            }
    }

    private func isInB(_ point: PlanePoint) -> Bool { b.contains { $0.contains(point) } }

    private func isInside(_ point: PlanePoint) -> Bool { a.location(of: point) == .inside }

    // MARK: Where edges meet

    private enum Meetings {
        /// The vertices of either set that lie on an edge of the other.
        case vertices(Set<PlanePoint>)
        /// Edges cross where there is no vertex: there `a` leaves `b`.
        case leaving
    }

    private func meetings(until isOver: () -> Bool) -> Meetings? {
        var points: Set<PlanePoint> = []
        var count = EdgeCount()
        for b in b {
            var leaves = false
            let isWhole = a.edges(meeting: b.bounds) { edge in
                leaves = !b.edges(meeting: edge.bounds) { other in
                    count.add()
                    if edge.crosses(other) { return isBridged(edge, other) }
                    for point in [other.a, other.b] where edge.contains(point) {
                        points.insert(point)
                    }
                    for point in [edge.a, edge.b] where other.contains(point) {
                        points.insert(point)
                    }
                    return true
                }
                return !leaves && !count.isOver(isOver)
            }
            if leaves { return .leaving }
            if !isWhole { return nil }
        }
        return .vertices(points)
    }

    /// Whether a vertex of `b` lies where an edge of `a` crosses one of `b`, or an edge of another part
    /// of `b` on the other side of the antimeridian.
    private func isBridged(_ edge: PlaneEdge, _ other: PlaneEdge) -> Bool {
        let box = edge.bounds.intersection(other.bounds)
        return b.contains { b in
            !b.edges(meeting: box) { third in
                let isBehind =
                    third.isVertical && other.isVertical && third.ax == other.ax
                    && (third.by > third.ay) != (other.by > other.ay) && edge.crosses(third)
                let isThrough = [third.a, third.b].contains {
                    edge.contains($0) && other.contains($0)
                }
                return !isBehind && !isThrough
            }
        }
    }

    /// Vertices of `b` inside `a` at which parts of `b` may meet that lie a turn apart.
    private func verticesOfB() -> [PlanePoint] {
        guard b[0].outline.spansTurn else { return [] }
        var points: [PlanePoint] = []
        for b in b {
            _ = b.edges(meeting: a.bounds) { edge in
                if edge.isVertical { points += [edge.a, edge.b].filter(isInside) }
                return true
            }
        }
        return points
    }

    private func isInB(around point: PlanePoint) -> Bool {
        var fan = Fan(around: point)
        _ = a.edges(meeting: PlaneBounds(point)) { edge in
            if edge.contains(point) { fan.add(edge, toA: true, isOfArea: !isLine) }
            return true
        }
        for b in b {
            _ = b.edges(meeting: PlaneBounds(point)) { edge in
                if edge.contains(point) { fan.add(edge, toA: false, isOfArea: true) }
                return true
            }
        }
        return fan.isAInB(
            isInA: !fan.hasEdgesOfA && isInside(point), isInB: !fan.hasEdgesOfB && isInB(point))
    }

    // MARK: Lines in lines

    private func isCovered(until isOver: () -> Bool) -> Bool? {
        var count = EdgeCount()
        var isCovered = true
        let isWhole = a.edges(meeting: a.bounds) { edge in
            isCovered = self.isCovered(edge, &count)
            return isCovered && !count.isOver(isOver)
        }
        return isCovered ? (isWhole ? true : nil) : false
    }

    /// Whether edges along an edge cover it; they are compared by longitude, or by latitude if that
    /// does not change.
    private func isCovered(_ edge: PlaneEdge, _ count: inout EdgeCount) -> Bool {
        func range(_ edge: PlaneEdge, _ isVertical: Bool) -> (low: Double, high: Double) {
            isVertical
                ? (min(edge.ay, edge.by), max(edge.ay, edge.by))
                : (min(edge.ax, edge.bx), max(edge.ax, edge.bx))
        }
        var ranges: [(low: Double, high: Double)] = []
        for b in b {
            _ = b.edges(meeting: edge.bounds) { other in
                count.add()
                if edge.side(of: other.a) == 0, edge.side(of: other.b) == 0 {
                    ranges.append(range(other, edge.isVertical))
                }
                return true
            }
        }
        let whole = range(edge, edge.isVertical)
        var reach: Double?
        for range in ranges.sorted(by: { $0.low < $1.low }) {
            guard range.low <= reach ?? whole.low else { return false }
            reach = max(reach ?? range.high, range.high)
            if range.high >= whole.high { return true }
        }
        return false
    }
}

extension TurnedOutline {
    /// The first vertex of each run.
    fileprivate var runVertices: some Sequence<PlanePoint> {
        outline.runEnds.indices.lazy.map { run in
            outline.vertex(run == 0 ? 0 : Int(outline.runEnds[run - 1]), turn: turn)
        }
    }
}
