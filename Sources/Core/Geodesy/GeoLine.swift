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
/// - Complexity: to make one O(n) for n positions; `nearest` O(log n + arcs about as
///   near as the nearest one), O(n) at worst.
/// - Note: Distances are within 5e-8 m of exact arithmetic before they are rounded. So are places
///   along the line for points within 1,000 km of it, if the line is not longer than the equator.
public struct GeoLine: Sendable {
    let prepared: PreparedLine

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
    public var lengthMeters: Double { prepared.begins[positions.count - 1] }

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
        nearest(to: position, measuresAlong: true)
    }

    /// `nearest(to: position).distance`.
    func distance(to position: Coordinate) -> Distance {
        nearest(to: position, measuresAlong: false).distance
    }

    private func nearest(to position: Coordinate, measuresAlong: Bool) -> Nearest {
        prepared.tree.withGroups { groups in
            var search = NearestArc(prepared, groups, to: position, measuresAlong: measuresAlong)
            search.lookEverywhere()
            guard let nearest = search.nearest else {
                preconditionFailure("no arc is as near as the nearest")
            }
            return nearest
        }
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
