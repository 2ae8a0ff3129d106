/// Boxes that hold a place, for an index.
extension PreparedPlace {
    /// A part of a place, by a box.
    public struct Piece: Sendable, Hashable {
        /// What lies in the place of this part of the earth lies in the box.
        public let box: GeoBox
        /// Whether all of the box lies in the place.
        public let isWhole: Bool

        /// A part of a place.
        public init(box: GeoBox, isWhole: Bool) { (self.box, self.isWhole) = (box, isWhole) }
    }

    /// So many edges share a box at least.
    private static let edgesTogether = 16

    /// Boxes that together hold the place: one for a place of few positions; for one of many, up to
    /// `limit`, so that what lies near its bounds but not near its outline meets none of them.
    ///
    /// Inequality: a position that lies in the place lies in one of the boxes, and every position in a
    /// box that is whole lies in the place.
    ///
    /// - Complexity: O(limit · n) for n positions, at worst.
    public func pieces(limit: Int) -> [Piece] {
        if case .box(let box) = place { return [Piece(box: box, isWhole: true)] }
        switch form {
        case .point: return [Piece(box: bounds, isWhole: true)]
        case .circle: return [Piece(box: bounds, isWhole: false)]
        case .outline(let outline):
            let count = min(limit, outline.vertices.count / Self.edgesTogether)
            var cutting = OutlineCutting(outline)
            cutting.cut(into: count)
            return cutting.cells.map {
                Piece(box: GeoBox(holding: $0.bounds), isWhole: $0.isWhole)
            }
        }
    }

    /// A box that holds the place.
    public var bounds: GeoBox {
        switch form {
        case .point(let point):
            GeoBox(
                south: point.latitude, west: point.longitude, north: point.latitude,
                east: point.longitude)
        case .circle(let circle): GeoShape.circle(circle).bounds?.first ?? .world
        case .outline(let outline): GeoBox(holding: outline.bounds)
        }
    }
}

extension Geometry {
    /// A position on the surface, as GEOS chooses it in the plane; nil in a program without GEOS.
    public var pointOnSurface: Coordinate? {
        let point: PlanePoint?
        if kind.isArea {
            point = (try? UnwrappedArea(parts)).flatMap {
                PlanarPolygon.pointOnSurface($0.polygons)
            }
        } else {
            point = PlanarPolygon.pointOnSurface(parts.map { UnwrappedLine($0[0][...]) })
        }
        return point.map(Coordinate.init(inPlane:))
    }
}

/// Cells of an outline's bounds, halved again and again.
private struct OutlineCutting {
    struct Cell {
        let bounds: PlaneBounds
        let isWhole: Bool

        /// About the area.
        var size: Double {
            isWhole ? -1 : (bounds.east - bounds.west) * (bounds.north - bounds.south)
        }
    }

    private let outline: TurnedOutline
    private(set) var cells: [Cell]

    init(_ outline: Outline) {
        self.outline = TurnedOutline(outline: outline, turn: 0)
        cells = [Cell(bounds: outline.bounds, isWhole: false)]
    }

    /// Halves the largest cell, until there are so many or none can be halved.
    mutating func cut(into count: Int) {
        while cells.count < count,
            let largest = cells.indices.max(by: { cells[$0].size < cells[$1].size }),
            cells[largest].size > 1e-12
        {
            let bounds = cells.remove(at: largest).bounds
            var (first, second) = (bounds, bounds)
            if bounds.east - bounds.west > bounds.north - bounds.south {
                first.east = (bounds.west + bounds.east) / 2
                second.west = first.east
            } else {
                first.north = (bounds.south + bounds.north) / 2
                second.south = first.north
            }
            cells += [first, second].compactMap(cell)
        }
    }

    /// What of the outline lies in some bounds; nil without any.
    private func cell(_ bounds: PlaneBounds) -> Cell? {
        var held = PlaneBounds.empty
        _ = outline.edges(meeting: bounds) { edge in
            if edge.mayMeet(bounds.west, bounds.south, bounds.east, bounds.north) {
                held.formUnion(edge.bounds.intersection(bounds))
            }
            return true
        }
        let corners = [
            PlanePoint(bounds.west, bounds.south), PlanePoint(bounds.east, bounds.south),
            PlanePoint(bounds.east, bounds.north), PlanePoint(bounds.west, bounds.north),
        ].filter(outline.contains)
        if held == .empty { return corners.isEmpty ? nil : Cell(bounds: bounds, isWhole: true) }
        for corner in corners { held.formUnion(PlaneBounds(corner)) }
        return Cell(bounds: held, isWhole: false)
    }
}

extension GeoBox {
    /// A box around bounds in the plane.
    init(holding bounds: PlaneBounds) {
        guard bounds.east - bounds.west < 360 - 1e-9 else {
            self.init(south: bounds.south, west: -180, north: bounds.north, east: 180)
            return
        }
        // Up to 232 a longitude in the plane is one that was given plus 360, exactly; beyond, it may
        // have been rounded.
        func withinTurn(_ longitude: Double, _ hair: Double) -> Double {
            longitude < 180 ? longitude : longitude - 360 + (longitude > 232 ? hair : 0)
        }
        self.init(
            south: bounds.south, west: withinTurn(bounds.west, -1e-12), north: bounds.north,
            east: bounds.east == 180 ? 180 : withinTurn(bounds.east, 1e-12))
    }
}
