/// Lines and areas with vertices on a small grid, compared by rational arithmetic and brute force: cuts
/// every edge at every other, and looks at a point of each face.
///
/// Coordinates are at most a few hundred, so that nothing leaves 128 bits.
struct ExactPlane {
    typealias Point = (x: Int, y: Int)
    typealias Edge = (a: Point, b: Point)

    let isArea: Bool
    let runs: [[Point]]

    /// Without those between two equal vertices.
    var edges: [Edge] {
        runs.flatMap { run in zip(run, run.dropFirst()).filter { $0 != $1 }.map { ($0, $1) } }
    }

    /// The same, moved to the east.
    func moved(by x: Int) -> ExactPlane {
        ExactPlane(isArea: isArea, runs: runs.map { $0.map { ($0.x + x, $0.y) } })
    }

    /// Of several that lie beside each other in one plane.
    init(_ parts: [ExactPlane]) {
        self.init(isArea: parts[0].isArea, runs: parts.flatMap(\.runs))
    }

    init(isArea: Bool, runs: [[Point]]) { (self.isArea, self.runs) = (isArea, runs) }

    // MARK: Points

    /// Whether a point lies on an edge, or inside an area: by the parity of edges below it.
    func contains(_ x: Ratio, _ y: Ratio) -> Bool {
        var isInside = false
        for (a, b) in edges {
            let low = (Ratio(min(a.x, b.x)), Ratio(min(a.y, b.y)))
            let high = (Ratio(max(a.x, b.x)), Ratio(max(a.y, b.y)))
            guard !(x < low.0), !(high.0 < x) else { continue }
            if a.x == b.x {
                if !(y < low.1), !(high.1 < y) { return true }
                continue
            }
            let here = Self.y(of: (a, b), at: x)
            if here == y { return true }
            if (Ratio(a.x) < x || Ratio(a.x) == x) != (Ratio(b.x) < x || Ratio(b.x) == x), here < y
            {
                isInside.toggle()
            }
        }
        return isArea && isInside
    }

    private static func y(of edge: Edge, at x: Ratio) -> Ratio {
        let (a, b) = edge
        return Ratio(a.y) + (x - Ratio(a.x)) * Ratio(Int128(b.y - a.y), Int128(b.x - a.x))
    }

    // MARK: Two

    func intersects(_ other: ExactPlane) -> Bool {
        edges.contains { edge in other.edges.contains { !Self.shared(edge, $0).isEmpty } }
            || runs.contains { other.contains(Ratio($0[0].x), Ratio($0[0].y)) }
            || other.runs.contains { contains(Ratio($0[0].x), Ratio($0[0].y)) }
    }

    func isWithin(_ other: ExactPlane) -> Bool {
        guard isArea else { return areEdgesWithin(other) }
        return other.isArea && areEdgesWithin(other) && areFacesWithin(other)
    }

    /// Each piece of an edge between two places where others meet it, by its middle.
    private func areEdgesWithin(_ other: ExactPlane) -> Bool {
        edges.allSatisfy { edge in
            let shares =
                ([Ratio(0), Ratio(1)] + other.edges.flatMap { Self.shared(edge, $0) }).sorted()
            func isIn(_ share: Ratio) -> Bool {
                other.contains(
                    Ratio(edge.a.x) + Ratio(edge.b.x - edge.a.x) * share,
                    Ratio(edge.a.y) + Ratio(edge.b.y - edge.a.y) * share)
            }
            return isIn(shares[0])
                && zip(shares, shares.dropFirst()).allSatisfy { isIn(($0 + $1) * Ratio(1, 2)) }
        }
    }

    /// Each face of all edges together: between two places where edges begin, end or meet, and there
    /// between two edges.
    private func areFacesWithin(_ other: ExactPlane) -> Bool {
        let all: [(edge: Edge, isMine: Bool)] =
            edges.map { ($0, true) } + other.edges.map { ($0, false) }
        var xs = all.flatMap { [Ratio($0.edge.a.x), Ratio($0.edge.b.x)] }
        for first in all {
            for second in all {
                xs += Self.shared(first.edge, second.edge).map {
                    Ratio(first.edge.a.x) + Ratio(first.edge.b.x - first.edge.a.x) * $0
                }
            }
        }
        xs.sort()
        for (west, east) in zip(xs, xs.dropFirst()) where west < east {
            let x = (west + east) * Ratio(1, 2)
            let crossed = all.filter {
                (Ratio($0.edge.a.x) < x) != (Ratio($0.edge.b.x) < x)
            }
            let sorted = crossed.map { (y: Self.y(of: $0.edge, at: x), isMine: $0.isMine) }
                .sorted { $0.y < $1.y }
            var (isInMine, isInOther) = (false, false)
            for (index, crossing) in sorted.enumerated() {
                if crossing.isMine { isInMine.toggle() } else { isInOther.toggle() }
                let isFace = index + 1 < sorted.count && crossing.y < sorted[index + 1].y
                if isFace, isInMine, !isInOther { return false }
            }
        }
        return true
    }

    /// Where along the first edge the second one meets it: once, or at both ends of what they share.
    private static func shared(_ first: Edge, _ second: Edge) -> [Ratio] {
        let (u, v) = (
            (x: first.b.x - first.a.x, y: first.b.y - first.a.y),
            (x: second.b.x - second.a.x, y: second.b.y - second.a.y)
        )
        let w = (x: second.a.x - first.a.x, y: second.a.y - first.a.y)
        let turn = u.x * v.y - u.y * v.x
        if turn != 0 {
            let share = Ratio(Int128(w.x * v.y - w.y * v.x), Int128(turn))
            let other = Ratio(Int128(w.x * u.y - w.y * u.x), Int128(turn))
            let isOnBoth = [share, other].allSatisfy { !($0 < Ratio(0)) && !(Ratio(1) < $0) }
            return isOnBoth ? [share] : []
        }
        guard w.x * u.y == w.y * u.x else { return [] }
        let length = u.x * u.x + u.y * u.y
        let ends = [w, (x: w.x + v.x, y: w.y + v.y)].map {
            Ratio(Int128($0.x * u.x + $0.y * u.y), Int128(length))
        }.sorted()
        let (low, high) = (max(ends[0], Ratio(0)), min(ends[1], Ratio(1)))
        return high < low ? [] : [low, high]
    }
}

/// A rational number.
struct Ratio: Comparable {
    let numerator, denominator: Int128

    init(_ whole: Int) { self.init(Int128(whole), 1) }

    init(_ numerator: Int128, _ denominator: Int128) {
        var (a, b) = (numerator.magnitude, denominator.magnitude)
        while b != 0 { (a, b) = (b, a % b) }
        let divisor = Int128(max(a, 1)) * (denominator < 0 ? -1 : 1)
        self.numerator = numerator / divisor
        self.denominator = denominator / divisor
    }

    static func + (a: Ratio, b: Ratio) -> Ratio {
        Ratio(
            a.numerator * b.denominator + b.numerator * a.denominator,
            a.denominator * b.denominator)
    }

    static func - (a: Ratio, b: Ratio) -> Ratio { a + Ratio(-1) * b }

    static func * (a: Ratio, b: Ratio) -> Ratio {
        Ratio(a.numerator * b.numerator, a.denominator * b.denominator)
    }

    static func < (a: Ratio, b: Ratio) -> Bool {
        a.numerator * b.denominator < b.numerator * a.denominator
    }
}
