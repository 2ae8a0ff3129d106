/// A longitude counted on over the antimeridian: so many times around and degrees -180 ..< 180.
///
/// The pair keeps exactly what the sum of both would round.
struct UnwrappedLongitude: Comparable {
    var turns: Int
    let longitude: Double

    init(_ longitude: Double, turns: Int) {
        self.turns = longitude == 180 ? turns + 1 : turns
        self.longitude = longitude == 180 ? -180 : longitude
    }

    /// Follows an edge, which is not longer than 180° and so may cross the antimeridian.
    ///
    /// - Parameters: longitudes as they were given, and the turns of the first one.
    static func turns(after turns: Int, from: Double, to: Double) -> Int {
        let step = to - from
        return abs(step) > 180 ? turns + (step < 0 ? 1 : -1) : turns
    }

    /// Degrees east of Greenwich, rounded.
    var degrees: Double { longitude + 360 * Double(turns) }

    /// The same meridian, once more around to the east.
    var nextTurn: UnwrappedLongitude { UnwrappedLongitude(longitude, turns: turns + 1) }

    static func < (a: UnwrappedLongitude, b: UnwrappedLongitude) -> Bool {
        (a.turns, a.longitude) < (b.turns, b.longitude)
    }
}

/// A ring of a polygon laid out in the plane: longitudes go on where it crosses the antimeridian.
///
/// An edge longer than 180° goes the short way round. So an edge between both spellings of one
/// place, -180 and 180, has no length; only where the ring would not close or have no width that
/// way, such edges are whole parallels: in the rectangle of the world, or in a ring around a pole
/// that is closed along it.
struct UnwrappedRing {
    let positions: [Coordinate]
    private(set) var longitudes: [UnwrappedLongitude]

    /// The outermost longitudes.
    private(set) var west, east: UnwrappedLongitude

    /// - Parameter positions: the last one the same as the first.
    /// - Throws: the reason why it is no ring.
    init(_ positions: [Coordinate]) throws(InvalidRing) {
        guard positions.count >= 4 else {
            throw InvalidRing(
                reason: "Too few points: a ring has four positions or more, the last one the same "
                    + "as the first, not \(positions.count)")
        }
        self.positions = positions
        var longitudes = Self.unwrap(positions, wholeParallels: false)
        if longitudes.first != longitudes.last || longitudes.min() == longitudes.max() {
            longitudes = Self.unwrap(positions, wholeParallels: true)
        }
        self.longitudes = longitudes
        west = longitudes.min()!
        east = longitudes.max()!
        guard positions.first != positions.last || longitudes.first == longitudes.last else {
            throw InvalidRing(
                reason: "The ring winds around a pole; close it along the pole, from longitude 180 "
                    + "to -180 at latitude 90 or -90")
        }
        guard east <= west.nextTurn else {
            throw InvalidRing(reason: "The ring spans more than 360 degrees of longitude")
        }
    }

    /// Moves the ring by whole turns to begin at, or as near as can be east of, a longitude.
    mutating func align(eastOf start: UnwrappedLongitude) {
        let turns = start.turns + (west.longitude < start.longitude ? 1 : 0) - west.turns
        west.turns += turns
        east.turns += turns
        for index in longitudes.indices { longitudes[index].turns += turns }
    }

    /// The ring, once more around to the east.
    var nextTurn: UnwrappedRing {
        var ring = self
        ring.align(eastOf: west.nextTurn)
        return ring
    }

    private static func unwrap(
        _ positions: [Coordinate], wholeParallels: Bool
    ) -> [UnwrappedLongitude] {
        var turns = 0
        var longitudes = [UnwrappedLongitude(positions[0].longitude, turns: 0)]
        for (from, to) in zip(positions, positions.dropFirst()) {
            let step = to.longitude - from.longitude
            let isParallel = wholeParallels && abs(step) == 360 && from.latitude == to.latitude
            if !isParallel {
                turns = UnwrappedLongitude.turns(
                    after: turns, from: from.longitude, to: to.longitude)
            }
            longitudes.append(UnwrappedLongitude(to.longitude, turns: turns))
        }
        return longitudes
    }
}

/// Why positions are no ring.
struct InvalidRing: Error {
    let reason: String
}
