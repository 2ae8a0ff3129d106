import Geodesy

/// Bounds of distances by a measure, for a nearest-first walk: the one place where it tells the
/// kinds of measures apart.
///
/// A *key* is a number in single precision that ranks about as a distance does and takes next to
/// nothing: of a distance from a place, the squared chord.
///
/// Inequality: what has a key above `key(beyond: d)` is farther than d, what has one up to
/// `key(within: d)` is not.
struct WalkBounds: Sendable {
    private let model: DistanceModel
    private let center: FloatVector

    init(_ measure: GeoMeasure) {
        switch measure {
        case .distance(let origin):
            model = origin.model
            center = FloatVector(Sphere.unitVector(origin.position))
        }
    }

    /// Whether keys and distances come in one order, up to rounding.
    var orderLikeDistances: Bool { model == .sphere }

    // MARK: Keys of distances

    func key(within meters: Double) -> Float {
        ChordLimits.inside(radiusMeters: meters, model)
    }

    func key(beyond meters: Double) -> Float {
        ChordLimits.outside(radiusMeters: meters, model)
    }

    /// A key beyond which everything is surely farther than all up to another.
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

    /// Of each node of a group, between which keys all below it lie.
    @inline(__always)
    func keys(ofNodes group: UnsafeMutableRawPointer) -> NodeChords {
        NodeChords(group, center: center)
    }
}
