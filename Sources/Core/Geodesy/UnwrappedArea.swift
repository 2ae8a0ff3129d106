/// Polygons of rings laid out in the plane. Shells begin within the first turn, holes with or behind
/// their shells.
struct UnwrappedArea {
    /// For each polygon its rings, the shell first.
    let polygons: [[UnwrappedRing]]

    /// - Throws: `InvalidPolygon` for no polygons or rings, and for rings that cannot be laid out.
    init(_ polygons: [[[Coordinate]]]) throws(InvalidPolygon) {
        guard !polygons.isEmpty else { throw InvalidPolygon(reason: "There is no polygon") }
        var unwrapped: [[UnwrappedRing]] = []
        for (number, rings) in polygons.enumerated() {
            unwrapped.append(try Self.unwrap(rings, polygon: number))
        }
        self.polygons = unwrapped
    }

    /// - Throws: GEOS' reason why the polygons are not valid, also where they meet beyond the
    ///   antimeridian.
    func validate() throws(InvalidPolygon) {
        try PlanarPolygon.validate(polygons)
        let around = beyondAntimeridian
        if around.count > 1 { try PlanarPolygon.validate(around) }
    }

    /// - Throws: `InvalidPolygon` for a ring that is one place, which cannot be told to have an inside.
    func requireWidth() throws(InvalidPolygon) {
        for (number, rings) in polygons.enumerated() {
            for (ringNumber, ring) in rings.enumerated()
            where ring.west == ring.east
                && ring.positions.allSatisfy({ $0.latitude == ring.positions[0].latitude })
            {
                throw InvalidPolygon(
                    reason: "Too few points: the ring is one place", polygon: number,
                    ring: ringNumber)
            }
        }
    }

    private static func unwrap(
        _ rings: [[Coordinate]], polygon: Int
    ) throws(InvalidPolygon) -> [UnwrappedRing] {
        guard !rings.isEmpty else {
            throw InvalidPolygon(reason: "The polygon has no ring", polygon: polygon)
        }
        var unwrapped: [UnwrappedRing] = []
        for (number, positions) in rings.enumerated() {
            do {
                var ring = try UnwrappedRing(positions)
                ring.align(
                    eastOf: unwrapped.first?.west ?? UnwrappedLongitude(-180, turns: 0))
                unwrapped.append(ring)
            } catch {
                throw InvalidPolygon(reason: error.reason, polygon: polygon, ring: number)
            }
        }
        return unwrapped
    }

    /// The polygons that go on beyond the antimeridian, and those that they meet there, a turn further
    /// on than they are given.
    private var beyondAntimeridian: [[UnwrappedRing]] {
        let antimeridian = UnwrappedLongitude(180, turns: 0)
        let crossing = polygons.filter { $0[0].east > antimeridian }
        guard let end = crossing.map({ $0[0].east }).max() else { return [] }
        let others = polygons.filter {
            $0[0].east <= antimeridian && $0[0].west.nextTurn <= end
        }
        return crossing + others.map { $0.map(\.nextTurn) }
    }
}
