import Geodesy

/// The points in a corridor.
///
/// Sixteen boxes or points are tested together, as balls, in single precision.
struct CorridorRegion: MeasurableRegion {
    private let corridor: GeoCorridor
    private let search: CorridorSearch
    /// Whether the places of all points are wanted, so that no node is taken as a whole.
    private var opensAll = false

    init(_ corridor: GeoCorridor) {
        self.corridor = corridor
        search = CorridorSearch(corridor)
    }

    func nodes(_ group: UnsafeMutableRawPointer, _ place: TreePlace) -> Lanes {
        let (touched, inside) = search.overlap(
            of: balls(group, place.level), level: place.level, in: place.lane)
        return Lanes(touched: touched, inside: opensAll ? 0 : inside)
    }

    func points(_ leaf: UnsafeMutableRawPointer, _ place: TreePlace) -> Lanes {
        let (touched, inside) = search.overlap(
            of: balls(leaf), level: place.level, in: place.lane)
        return Lanes(touched: touched, inside: inside)
    }

    func contains(_ position: Coordinate, lane: Int) -> Bool {
        search.contains(position, in: lane)
    }

    func contains(_ position: Coordinate) -> Bool { corridor.contains(position) }

    func classify(_ entry: Entry) -> Lanes { Lanes(touched: 1, inside: 0) }

    func measuring(_ measure: GeoMeasure) -> CorridorRegion {
        var region = self
        region.opensAll = measure == corridor.distance || measure == corridor.along
        return region
    }

    func distance(by measure: GeoMeasure, to position: Coordinate, lane: Int) -> Distance {
        search.distance(by: measure, to: position, in: lane) ?? measure.distance(to: position)
    }

    func shares(_ group: UnsafeMutableRawPointer, _ place: TreePlace) -> SIMD16<Float> {
        var shares = SIMD16<Float>()
        for lane in 0..<TierLayout.fanout {
            shares[lane] = search.share(level: place.level, ball: lane)
        }
        return shares
    }

    /// Holds the error of the centre and of the radius, each computed in single precision.
    private static let slack: Float = 5e-7

    /// Around the boxes of unit vectors of a group.
    private func balls(_ group: UnsafeMutableRawPointer, _ level: Int) -> CorridorSearch.Balls {
        typealias Group = TierLayout.Group
        let room = search.room(level: level)
        let columns = UnsafeRawPointer(group).assumingMemoryBound(to: Float.self)
        let fanout = TierLayout.fanout
        for lane in 0..<fanout {
            @inline(__always)
            func axis(_ low: Int, _ high: Int) -> (middle: Float, half: Float) {
                let (low, high) = (columns[low / 4 + lane], columns[high / 4 + lane])
                return ((low + high) * 0.5, (high - low) * 0.5)
            }
            let x = axis(Group.lowX, Group.highX)
            let y = axis(Group.lowY, Group.highY)
            let z = axis(Group.lowZ, Group.highZ)
            room[lane] = x.middle
            room[fanout + lane] = y.middle
            room[2 * fanout + lane] = z.middle
            let squared = x.half * x.half + y.half * y.half + z.half * z.half
            room[3 * fanout + lane] = squared.squareRoot() * (1 + Self.slack) + Self.slack
        }
        return CorridorSearch.Balls(
            x: room, y: room + fanout, z: room + 2 * fanout, radii: room + 3 * fanout)
    }

    /// Around the exact unit vectors of the points of a leaf.
    private func balls(_ leaf: UnsafeMutableRawPointer) -> CorridorSearch.Balls {
        typealias Columns = TierLayout.Leaf
        func column(_ offset: Int) -> UnsafePointer<Float> {
            UnsafeRawPointer(leaf + offset).assumingMemoryBound(to: Float.self)
        }
        let radii = search.room(level: -1)
        radii.update(repeating: Float(FloatVector.error).nextUp, count: TierLayout.fanout)
        return CorridorSearch.Balls(
            x: column(Columns.x), y: column(Columns.y), z: column(Columns.z), radii: radii)
    }
}
