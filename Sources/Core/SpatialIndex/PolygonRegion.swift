import Geodesy

/// The points in a polygon.
struct PolygonRegion: Region {
    private let polygon: GeoPolygon
    private let boxes: [BoxRegion]

    init(_ polygon: GeoPolygon) {
        self.polygon = polygon
        boxes = polygon.boxes.map(BoxRegion.init)
    }

    // Only nodes that the polygon's boxes touch need a test against the polygon itself.
    func nodes(_ group: UnsafeMutableRawPointer, _ place: TreePlace) -> Lanes {
        var rest = boxes.reduce(UInt16(0)) { $0 | $1.nodes(group, place).touched }
        var (touched, inside) = (UInt16(0), UInt16(0))
        while rest != 0 {
            let lane = rest.trailingZeroBitCount
            rest &= rest - 1
            let node = NodeBox(group: group, lane: lane)
            let overlap = polygon.overlap(
                south: Double(node.south), west: Double(node.west), north: Double(node.north),
                east: Double(node.east))
            if overlap != .none { touched |= 1 << UInt16(lane) }
            if overlap == .whole { inside |= 1 << UInt16(lane) }
        }
        return Lanes(touched: touched, inside: inside)
    }

    func points(_ leaf: UnsafeMutableRawPointer, _ place: TreePlace) -> Lanes {
        Lanes(touched: boxes.reduce(0) { $0 | $1.points(leaf, place).touched }, inside: 0)
    }

    func contains(_ position: Coordinate) -> Bool {
        polygon.contains(position)
    }

    func classify(_ entry: Entry) -> Lanes { Lanes(touched: 1, inside: 0) }

    // The estimate adds those of the polygon's boxes, whose shares of nodes are cheap to compute.
    // The boxes of several shells may overlap.
    func estimate(in index: PointIndex) -> Int {
        boxes.reduce(0) { $0 + $1.estimate(in: index) }
    }
}
