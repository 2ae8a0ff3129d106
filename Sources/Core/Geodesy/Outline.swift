/// Lines, or the rings of areas, laid out in the plane.
///
/// Runs of edges lie between longitudes -180 and 540: rings as `UnwrappedArea` lays them out, with
/// their inside on the left; lines cut where they leave these bounds. No edge is without length.
///
/// - Note: Longitudes beyond the antimeridian are those given plus 360, rounded to binary64. That is
///   exact within 52° of it.
final class Outline: Sendable {
    /// Whether what the runs enclose belongs to it.
    let isArea: Bool
    let vertices: [PlanePoint]
    /// Where each run ends in `vertices`; each has two vertices or more.
    let runEnds: [Int32]
    /// A vertex of each part: of each line, or of the shell of each polygon.
    let partVertices: [Int32]
    let bounds: PlaneBounds
    let tree: EdgeTree

    /// The longitudes of vertices within the first turn, and their turns; none if all are within it.
    private let longitudes: [Double]
    private let turns: [UInt8]

    convenience init(_ geometry: Geometry) { self.init(OutlineBuilder(geometry)) }

    /// Nil for a box without length and width.
    convenience init?(_ box: GeoBox) {
        guard let builder = OutlineBuilder(box) else { return nil }
        self.init(builder)
    }

    private init(_ builder: OutlineBuilder) {
        isArea = builder.isArea
        vertices = builder.vertices
        runEnds = builder.runEnds
        partVertices = builder.partVertices
        tree = EdgeTree(vertices: builder.vertices, runEnds: builder.runEnds)
        bounds = tree.bounds(of: tree.root)
        let isTurned = builder.turns.contains { $0 != 0 }
        longitudes = isTurned ? builder.longitudes : []
        turns = isTurned ? builder.turns : []
    }

    /// Whether two meridians of the bounds may be the same one.
    var spansTurn: Bool { bounds.east - bounds.west >= 360 }

    /// About how much memory it takes.
    var byteCount: Int {
        128 + vertices.count * 16 + longitudes.count * 9
            + (runEnds.count + partVertices.count) * 4 + tree.byteCount
    }

    /// Where a vertex is, with the numbers that were given; longitude 180 is -180.
    func place(ofVertex number: Int) -> Coordinate {
        let vertex = vertices[number]
        return Coordinate(
            latitude: vertex.y, longitude: longitudes.isEmpty ? vertex.x : longitudes[number])
    }

    /// A vertex, so many times more around to the east.
    @inline(__always)
    func vertex(_ number: Int, turn: Int) -> PlanePoint {
        guard turn != 0 else { return vertices[number] }
        let (longitude, turns) =
            turns.isEmpty
            ? (vertices[number].x, turn) : (longitudes[number], Int(turns[number]) + turn)
        return PlanePoint(longitude + 360 * Double(turns), vertices[number].y)
    }
}

/// An outline while it is made.
private struct OutlineBuilder {
    let isArea: Bool
    var vertices: [PlanePoint] = []
    var runEnds: [Int32] = []
    var partVertices: [Int32] = []
    var longitudes: [Double] = []
    var turns: [UInt8] = []

    init(_ geometry: Geometry) {
        isArea = geometry.kind.isArea
        if isArea {
            guard let area = try? UnwrappedArea(geometry.parts) else {
                preconditionFailure("a geometry cannot be laid out that has been before")
            }
            for rings in area.polygons {
                partVertices.append(Int32(vertices.count))
                for (number, ring) in rings.enumerated() { append(ring, isHole: number > 0) }
            }
        } else {
            var begin = 0
            for end in geometry.runEnds {
                partVertices.append(Int32(vertices.count))
                append(line: geometry.positions[begin..<Int(end)])
                begin = Int(end)
            }
        }
    }

    init?(_ box: GeoBox) {
        isArea = box.south < box.north && box.width.east != box.width.west
        guard isArea || box.south < box.north || box.width.east != box.width.west else {
            return nil
        }
        let (west, east) = box.width
        let corners = [(west, box.south), (east, box.south), (east, box.north), (west, box.north)]
        for (longitude, latitude) in isArea ? corners + [corners[0]] : [corners[0], corners[2]] {
            append(longitude, latitude)
        }
        partVertices = [0]
        runEnds = [Int32(vertices.count)]
    }

    private mutating func append(_ longitude: UnwrappedLongitude, _ latitude: Double) {
        vertices.append(PlanePoint(longitude.degrees, latitude))
        longitudes.append(longitude.longitude)
        turns.append(UInt8(longitude.turns))
    }

    private mutating func append(_ ring: UnwrappedRing, isHole: Bool) {
        var corners: [UnwrappedCorner] = []
        for (longitude, position) in zip(ring.longitudes, ring.positions) {
            let corner = UnwrappedCorner(longitude: longitude, latitude: position.latitude)
            if corners.last != corner { corners.append(corner) }
        }
        if Self.isCounterclockwise(corners) == isHole { corners.reverse() }
        for corner in corners { append(corner.longitude, corner.latitude) }
        runEnds.append(Int32(vertices.count))
    }

    /// Told at the westernmost vertex, the southernmost of several, where a ring is convex.
    private static func isCounterclockwise(_ corners: [UnwrappedCorner]) -> Bool {
        let ring = corners.dropLast()
        let turning = ring.indices.min {
            (ring[$0].longitude, ring[$0].latitude) < (ring[$1].longitude, ring[$1].latitude)
        }!
        let before = ring[turning == 0 ? ring.count - 1 : turning - 1]
        let (corner, after) = (ring[turning], corners[turning + 1])
        return Orientation.sign(
            before.longitude.degrees, before.latitude, corner.longitude.degrees, corner.latitude,
            after.longitude.degrees, after.latitude) > 0
    }

    private mutating func append(line positions: ArraySlice<Coordinate>) {
        let line = UnwrappedLine(positions)
        var isOpen = false
        for (from, to) in zip(line.corners, line.corners.dropFirst()) where from != to {
            // The western end lies within the first turn.
            let base = min(from.longitude.turns, to.longitude.turns)
            let (begin, end) = (from.less(turns: base), to.less(turns: base))
            if !isOpen || Int(turns[turns.count - 1]) != begin.longitude.turns {
                if isOpen { runEnds.append(Int32(vertices.count)) }
                append(begin.longitude, begin.latitude)
                isOpen = true
            }
            append(end.longitude, end.latitude)
        }
        runEnds.append(Int32(vertices.count))
    }
}

extension GeoBox {
    /// The edges as longitudes that go on over the antimeridian, the western one within the first
    /// turn.
    fileprivate var width: (west: UnwrappedLongitude, east: UnwrappedLongitude) {
        let first = UnwrappedLongitude(west, turns: 0)
        let last = UnwrappedLongitude(east, turns: crossesAntimeridian ? 1 : 0)
        return (
            UnwrappedLongitude(first.longitude, turns: 0),
            UnwrappedLongitude(last.longitude, turns: last.turns - first.turns)
        )
    }
}
