import Geodesy

/// Bounds of distances by a measure, for a nearest-first walk. This is the only part of the walk
/// that distinguishes the kinds of measures.
///
/// A *key* is a number in single precision that is almost free to compute and ranks approximately
/// as a distance does. For a distance from a place it is the squared chord.
///
/// Inequality: everything with a key above `key(beyond: d)` is farther than d, and nothing with a
/// key up to `key(within: d)` is.
struct WalkBounds: Sendable {
    private let model: DistanceModel
    private let center: FloatVector

    init(_ measure: GeoMeasure) {
        switch measure {
        case .distance(let origin):
            model = origin.model
            center = FloatVector(Sphere.unitVector(origin.position))
        case .distanceFromLine, .along:
            preconditionFailure("no shape has a radius by a line, so none is walked by one")
        }
    }

    /// Whether keys and distances have the same order, up to rounding.
    var orderLikeDistances: Bool { model == .sphere }

    // MARK: Keys of distances

    func key(within meters: Double) -> Float {
        ChordLimits.inside(radiusMeters: meters, model)
    }

    func key(beyond meters: Double) -> Float {
        ChordLimits.outside(radiusMeters: meters, model)
    }

    /// A key beyond which everything is certainly farther than everything up to another key.
    ///
    /// - Precondition: `orderLikeDistances`
    func key(beyondAllUpTo key: Float) -> Float { ChordLimits.beyond(key) }

    // MARK: Keys of places

    @inline(__always)
    func key(of entry: Entry) -> Float { entry.vector.squaredChord(to: center) }

    @inline(__always)
    func keys(ofLeaf leaf: UnsafeMutableRawPointer) -> SIMD16<Float> {
        squaredChords(leaf, center: center)
    }

    /// The range of the keys of all points below each node of a group.
    @inline(__always)
    func keys(ofNodes group: UnsafeMutableRawPointer) -> NodeChords {
        NodeChords(group, center: center)
    }
}
