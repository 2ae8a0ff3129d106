/// How the distance between two points is measured.
///
///     DistanceModel.wgs84.distance(a, b)
public enum DistanceModel: String, Sendable, Hashable, CaseIterable {
    /// Great circles on a sphere of radius 6,371,000 m.
    case sphere
    /// Geodesics on the WGS 84 ellipsoid.
    case wgs84

    /// The distance, rounded to the nearest micrometre.
    public func distance(_ a: Coordinate, _ b: Coordinate) -> Distance {
        switch self {
        case .sphere: Sphere.distance(a, b)
        case .wgs84: WGS84.distance(a, b)
        }
    }

    /// `distance(a, b).isWithin(radiusMeters:)`, usually without computing the distance.
    public func isWithin(radiusMeters: Double, _ a: Coordinate, _ b: Coordinate) -> Bool {
        Origin(a, self).isWithin(radiusMeters: radiusMeters, of: b)
    }

    /// The radius in metres of a circle on the sphere that contains all points of a circle.
    ///
    /// Inequality: `distance(a, b).isWithin(radiusMeters: r)` implies that
    /// `Sphere.distance(a, b).isWithin(radiusMeters: sphereRadius(containing: r))`.
    public func sphereRadius(containing radiusMeters: Double) -> Double {
        switch self {
        case .sphere: radiusMeters
        case .wgs84: (radiusMeters + Self.slackMeters) / WGS84.sphereRatio.lowerBound
        }
    }

    /// The radius in metres of a circle on the sphere that lies within a circle; negative if there
    /// is none.
    ///
    /// Inequality: `Sphere.distance(a, b).isWithin(radiusMeters: sphereRadius(within: r))` implies
    /// that `distance(a, b).isWithin(radiusMeters: r)`.
    public func sphereRadius(within radiusMeters: Double) -> Double {
        switch self {
        case .sphere: radiusMeters
        case .wgs84: (radiusMeters - Self.slackMeters) / WGS84.sphereRatio.upperBound
        }
    }

    // Both distances are rounded, by half a micrometre each.
    private static let slackMeters = 2e-6
}

extension DistanceModel {
    /// One end of many distances; caches what depends only on it.
    ///
    /// `Origin(a, model).distance(to: b)` is `model.distance(a, b)`, bit for bit.
    public struct Origin: Sendable, Hashable {
        /// How the distances are measured.
        public let model: DistanceModel
        private let sphere: Sphere.Origin

        /// Prepares to measure from this point.
        public init(_ position: Coordinate, _ model: DistanceModel) {
            self.model = model
            sphere = Sphere.Origin(position)
        }

        /// The point that distances are measured from.
        public var position: Coordinate { sphere.position }

        /// `distance(to: other).isWithin(radiusMeters:)`, usually without computing a geodesic.
        public func isWithin(radiusMeters: Double, of other: Coordinate) -> Bool {
            if model == .wgs84 {
                let arc = sphere.meters(to: other)
                if arc <= model.sphereRadius(within: radiusMeters) { return true }
                if arc > model.sphereRadius(containing: radiusMeters) { return false }
            }
            return distance(to: other).isWithin(radiusMeters: radiusMeters)
        }

        /// The distance to `other`, rounded to the nearest micrometre.
        public func distance(to other: Coordinate) -> Distance {
            switch model {
            case .sphere: sphere.distance(to: other)
            case .wgs84: WGS84.distance(sphere.position, other)
            }
        }

        /// The distances in metres to eight places, not yet rounded to a micrometre: of those that
        /// `distance(to:)` measures one by one, rounded, nil where they have to be.
        @inline(__always)
        public func meters(
            toLatitudes latitudes: SIMD8<Double>, longitudes: SIMD8<Double>
        ) -> SIMD8<Double>? {
            model == .sphere
                ? sphere.meters(toLatitudes: latitudes, longitudes: longitudes) : nil
        }
    }
}
