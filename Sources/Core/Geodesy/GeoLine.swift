/// A line of two or more positions; each edge is the shorter great-circle arc, on the sphere.
///
///     let line = try GeoLine([oslo, hamar, lillehammer])
///     line.nearest(to: eidsvoll).along        // metres from Oslo
///
/// Two equal positions, one after the other, are an edge of no length. That is harmless: its only
/// place is an end of its neighbours. Lines may cross themselves and run over poles and the
/// antimeridian.
///
/// A value: its hash and equality are those of the numbers given. Copies share one prepared form.
///
/// - Complexity: to make one O(n) for n positions; `nearest` is that of `ArcTree`.
/// - Note: Distances are within 5e-8 m of exact arithmetic before they are rounded. So are places
///   along the line for points within 1,000 km of it, if the line is not longer than the equator.
public struct GeoLine: Sendable {
    private let prepared: PreparedLine

    /// A line through two or more positions, in their order.
    ///
    /// - Throws: `InvalidLine` for an edge between antipodes.
    public init(_ positions: [Coordinate]) throws(InvalidLine) {
        precondition(positions.count > 1, "a line of \(positions.count) positions")
        prepared = try PreparedLine(positions)
    }

    /// The positions, with exactly the numbers given.
    public var positions: [Coordinate] { prepared.positions }

    /// How long the line is.
    public var lengthMeters: Double { prepared.begins[prepared.begins.count - 1] }

    /// About how many nanoseconds it takes to find the nearest place of the line.
    var nearestNanoseconds: Double { searchNanoseconds + 500 }

    /// About how many nanoseconds one search of the arcs takes.
    var searchNanoseconds: Double {
        100 + 25 * Double(Int.bitWidth - positions.count.leadingZeroBitCount)
    }

    /// How far a place is from a line, and how far along it the nearest place of the line is.
    public struct Nearest: Sendable, Hashable {
        /// From the place to the line, rounded to the micrometre.
        public let distance: Distance
        /// From the beginning of the line to its nearest place, rounded to the micrometre.
        public let along: Distance
    }

    /// The place of the line that is nearest. If several edges are equally near, to the micrometre,
    /// the first of them has it.
    ///
    /// Where an end of an edge is nearest, the distance is `Sphere.distance` from it, bit for bit.
    public func nearest(to position: Coordinate) -> Nearest {
        let place = Sphere.unitVector(position)
        let slack = Self.chordSlack
        let first = prepared.arcs.nearest(to: place, slack: slack)
        if first.runnerUp > first.chord + slack {
            return prepared.nearest(to: place, of: position, onArc: first.arc)
        }
        var best: Nearest?
        prepared.arcs.forEachArc(within: first.chord + slack, of: place) { arc in
            let nearest = prepared.nearest(to: place, of: position, onArc: arc)
            if best.map({ nearest.distance < $0.distance }) ?? true { best = nearest }
            return true
        }
        guard let best else { preconditionFailure("no arc is as near as the nearest") }
        return best
    }

    /// A difference between two distances in space that no rounding makes.
    ///
    /// Inequality: of two places whose computed chords to the line differ by more than this, the one
    /// with the longer chord has the greater distance, by more than a micrometre, when both are
    /// rounded.
    ///
    /// Proof: the arc of a chord c of the unit sphere is 2R asin(c / 2) and grows by at least R with
    /// each unit of c. So 4e-13 are more than 2.5 micrometres. Computed chords are within 1e-14 of
    /// the exact ones, which is less than 0.1 micrometres, distances within 0.05, and rounding moves
    /// each of them by at most 0.5.
    static let chordSlack = 4e-13

    /// The distance in space from a point near the unit sphere to the line on it, if it is less than
    /// `bound`; else `bound`. One of at most `enough` may be that to any place of the line.
    func chord(
        to point: SIMD3<Double>, below bound: Double = .infinity, enough: Double = -1
    ) -> Double {
        prepared.arcs.nearest(to: point, below: bound, enough: enough).chord
    }

    /// Initializes a buffer with the arcs that are at most this far in space from a point near the
    /// unit sphere, in single precision.
    ///
    /// - Returns: how many there are; nil if the buffer cannot hold them.
    func collectArcs(
        within chord: Double, of point: SIMD3<Double>,
        into buffer: UnsafeMutableBufferPointer<SingleArc>
    ) -> Int? {
        var count = 0
        let isAll = prepared.arcs.forEachArc(within: chord, of: point) { arc in
            guard count < buffer.count else { return false }
            buffer.initializeElement(at: count, to: prepared.singles[arc])
            count += 1
            return true
        }
        return isAll ? count : nil
    }
}

extension GeoLine: Hashable {
    /// Same positions in the same order; 180 and -180 are the same meridian.
    public static func == (a: GeoLine, b: GeoLine) -> Bool {
        a.prepared === b.prepared || a.positions == b.positions
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(positions) }
}

/// Why positions are no line.
public struct InvalidLine: Error, Sendable, Hashable {
    /// The index of the position that is the antipode of the one before it.
    public let position: Int
}

/// What questions about a line need.
private final class PreparedLine: Sendable {
    let positions: [Coordinate]
    let arcs: ArcTree
    let singles: [SingleArc]
    /// Metres from the beginning of the line to each position.
    let begins: [Double]

    init(_ positions: [Coordinate]) throws(InvalidLine) {
        var arcs: [GreatCircleArc] = []
        arcs.reserveCapacity(positions.count - 1)
        var (begins, lost) = ([0.0], 0.0)
        begins.reserveCapacity(positions.count)
        for (index, (a, b)) in zip(positions, positions.dropFirst()).enumerated() {
            guard let arc = GreatCircleArc(a, b) else { throw InvalidLine(position: index + 1) }
            arcs.append(arc)
            // Kahan's sum: what one addition loses goes into the next.
            let (sum, term) = (begins[index], Sphere.meters(a, b) - lost)
            begins.append(sum + term)
            lost = (begins[index + 1] - sum) - term
        }
        self.positions = positions
        self.arcs = ArcTree(arcs)
        singles = arcs.map(SingleArc.init)
        self.begins = begins
    }

    func nearest(
        to place: SIMD3<Double>, of position: Coordinate, onArc arc: Int
    ) -> GeoLine.Nearest {
        let (begin, end) = (begins[arc], begins[arc + 1])
        if let foot = arcs.arcs[arc].foot(of: place) {
            let ahead = (begin + end) / 2 + foot.ahead * Sphere.radiusMeters
            return GeoLine.Nearest(
                distance: .meters(foot.beside * Sphere.radiusMeters),
                along: .meters(min(max(ahead, begin), end)))
        }
        let origin = Sphere.Origin(position)
        let first = origin.distance(to: positions[arc])
        let last = origin.distance(to: positions[arc + 1])
        return first <= last
            ? GeoLine.Nearest(distance: first, along: .meters(begin))
            : GeoLine.Nearest(distance: last, along: .meters(end))
    }
}
