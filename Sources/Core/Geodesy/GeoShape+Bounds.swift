#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Boxes that together hold a shape.
extension GeoShape {
    /// At most some dozen boxes; nil if the shape is everywhere.
    ///
    /// Inequality: a position that lies in the shape lies in one of them.
    public var bounds: [GeoBox]? {
        switch self {
        case .box(let box): [box]
        case .polygon(let polygon): polygon.boxes
        case .circle(let circle): circle.isEverywhere ? nil : [circle.bounds]
        case .corridor(let corridor): corridor.bounds
        }
    }
}

extension GeoCircle {
    fileprivate var bounds: GeoBox {
        GeoBox(around: center, meters: model.sphereRadius(containing: radiusMeters))
    }
}

extension GeoCorridor {
    /// Consecutive edges of the line that share a box.
    private static let boxCount = 32

    /// Every position within the width of an edge lies within half the edge's length and the width
    /// of the edge's middle.
    fileprivate var bounds: [GeoBox] {
        let positions = line.positions
        guard positions.count > 1 else {
            return [GeoBox(around: positions[0], meters: widthMeters)]
        }
        let edges = positions.count - 1
        let together = (edges + Self.boxCount - 1) / Self.boxCount
        return stride(from: 0, to: edges, by: together).map { first in
            let last = min(first + together, edges)
            let center = positions[(first + last) / 2]
            var reach = 0.0
            for edge in first..<last {
                // Either end of the edge is at most the edge's length from any point of it.
                let length = Sphere.meters(positions[edge], positions[edge + 1])
                reach = max(reach, Sphere.meters(center, positions[edge]) + length)
            }
            return GeoBox(around: center, meters: reach + widthMeters)
        }
    }
}

extension GeoBox {
    /// A box that holds every position within a distance on the sphere.
    init(around center: Coordinate, meters: Double) {
        // Distances are rounded to the micrometre, and sines are not exact.
        let angle = (meters + 0.001) / Sphere.radiusMeters
        let degrees = angle * 180 / .pi + 1e-9
        let south = center.latitude - degrees
        let north = center.latitude + degrees
        guard south > -90, north < 90 else {
            // It holds a pole, and so every longitude.
            self.init(south: max(south, -90), west: -180, north: min(north, 90), east: 180)
            return
        }
        // The circle's easternmost point is where a meridian touches it.
        let sine = sin(angle) / sin((90 - abs(center.latitude)) * .pi / 180)
        let width = sine < 1 ? asin(sine) * 180 / .pi + 1e-7 : 180
        guard width < 180 else {
            self.init(south: south, west: -180, north: north, east: 180)
            return
        }
        var (west, east) = (center.longitude - width, center.longitude + width)
        if west < -180 { west += 360 }
        if east > 180 { east -= 360 }
        self.init(south: south, west: west, north: north, east: east)
    }
}
