import CLanes
import Geodesy

/// The points within a radius of a centre.
struct CircleRegion: MeasurableRegion {
    private let origin: DistanceModel.Origin
    private let radiusMeters: Double
    private let center: FloatVector
    private var limits: ChordLimits

    init(_ circle: GeoCircle) {
        origin = circle.origin
        radiusMeters = circle.radiusMeters
        center = FloatVector(Sphere.unitVector(circle.center))
        limits = ChordLimits(radiusMeters: radiusMeters, model: circle.model)
    }

    @inline(__always)
    func nodes(_ group: UnsafeMutableRawPointer, _ place: TreePlace) -> Lanes {
        gb_boxes_within(group.boxes, center, limits.outside, limits.inside)
    }

    @inline(__always)
    func points(_ leaf: UnsafeMutableRawPointer, _ place: TreePlace) -> Lanes {
        gb_points_within(leaf.points, center, limits.outside, limits.inside)
    }

    func contains(_ position: Coordinate) -> Bool {
        origin.isWithin(radiusMeters: radiusMeters, of: position)
    }

    @inline(__always)
    func classify(_ entry: Entry) -> Lanes {
        let chord = entry.vector.squaredChord(to: center)
        return Lanes(
            touched: chord <= limits.outside ? 1 : 0, inside: chord <= limits.inside ? 1 : 0)
    }

    // On a sphere, the area within a chord grows with the square of the chord. The position of the
    // limit between the nearest and the farthest corner is therefore about the share of the area.
    @inline(__always)
    func shares(_ group: UnsafeMutableRawPointer, _ place: TreePlace) -> SIMD16<Float> {
        let chords = NodeChords(group, center: center)
        return share(limits.outside - chords.nearest, of: chords.farthest - chords.nearest)
    }

    // On the ellipsoid the limits leave a ring undecided. The circle on the sphere gives about the
    // same estimate.
    func estimate(in index: PointIndex) -> Int {
        guard origin.model != .sphere else { return index.estimate(by: self) }
        var region = self
        region.limits = ChordLimits(radiusMeters: radiusMeters, model: .sphere)
        return index.estimate(by: region)
    }
}
