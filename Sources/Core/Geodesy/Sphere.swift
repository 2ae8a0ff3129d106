#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The earth as a sphere of radius 6,371,000 m, and great-circle distances on it.
///
///     let shibuya = Coordinate(latitude: 35.677379, longitude: 139.702148)
///     let nagatacho = Coordinate(latitude: 35.667983, longitude: 139.739356)
///     Sphere.meters(shibuya, nagatacho)       // 3519.66146066…
///
/// - Note: The absolute error against the haversine formula in exact arithmetic stays below
///   1e-8 m from 0 through the antipode. A mean sphere itself is up to 0.6 % off the ellipsoid.
/// - Reference: Sinnott, "Virtues of the Haversine", Sky and Telescope 68(2), 1984.
public enum Sphere {
    /// The radius in metres.
    public static let radiusMeters = 6_371_000.0

    /// The great-circle distance, rounded to the nearest micrometre. Symmetric in its arguments.
    ///
    /// - Complexity: O(1), six trigonometric functions.
    public static func distance(_ a: Coordinate, _ b: Coordinate) -> Distance {
        .meters(meters(a, b))
    }

    /// The great-circle distance in metres, not yet rounded to a micrometre.
    public static func meters(_ a: Coordinate, _ b: Coordinate) -> Double {
        Origin(a).meters(to: b)
    }

    /// The point on the unit sphere: x to latitude 0, longitude 0; y to 90 east; z to the north
    /// pole. Each component is within 1e-15 of the exact one.
    public static func unitVector(_ position: Coordinate) -> SIMD3<Double> {
        let cosLatitude = cosineOfLatitude(position.latitude)
        let longitude = position.longitude * radiansPerDegree
        return SIMD3(
            cosLatitude * cos(longitude), cosLatitude * sin(longitude),
            sin(position.latitude * radiansPerDegree))
    }

    /// The points on the unit sphere of some positions, each component within 1e-15 of the exact
    /// one: eight at a time.
    static func unitVectors(_ positions: [Coordinate]) -> [SIMD3<Double>] {
        var vectors: [SIMD3<Double>] = []
        vectors.reserveCapacity(positions.count)
        for first in stride(from: 0, to: positions.count, by: 8) {
            let count = min(8, positions.count - first)
            var (latitudes, longitudes) = (SIMD8<Double>(), SIMD8<Double>())
            for lane in 0..<count {
                latitudes[lane] = positions[first + lane].latitude
                longitudes[lane] = positions[first + lane].longitude
            }
            let (north, up) = Series.sineAndCosine(ofDegrees: latitudes)
            let (east, ahead) = Series.sineAndCosine(ofDegrees: longitudes)
            let (x, y) = (up * ahead, up * east)
            for lane in 0..<count { vectors.append(SIMD3(x[lane], y[lane], north[lane])) }
        }
        return vectors
    }

    static let radiansPerDegree = Double.pi / 180

    /// The angle in radians with this sine and cosine, both perhaps scaled alike.
    static func angle(sine: Double, cosine: Double) -> Double { atan2(sine, cosine) }

    /// The sine and the cosine of an angle in radians.
    static func sineAndCosine(_ angle: Double) -> (sine: Double, cosine: Double) {
        (sin(angle), cos(angle))
    }

    /// The cosine of a latitude, towards the poles as the sine of the complement, which is exact to
    /// the last bits there.
    static func cosineOfLatitude(_ degrees: Double) -> Double {
        let north = abs(degrees)
        return north <= 45
            ? Series.cosine(north * radiansPerDegree) : sine((90 - north) * radiansPerDegree)
    }

    /// The sine of an angle in radians, within 1.1 units of the last place.
    public static func sine(_ angle: Double) -> Double {
        abs(angle) <= Series.bound ? Series.sine(angle) : sin(angle)
    }
}

extension Sphere {
    /// One end of many distances: keeps what depends on it alone.
    ///
    /// `Origin(a).distance(to: b)` is `Sphere.distance(a, b)`, bit for bit.
    public struct Origin: Sendable, Hashable {
        /// The place the distances are measured from.
        public let position: Coordinate
        private let cosLatitude: Double

        /// Prepares to measure from this place.
        public init(_ position: Coordinate) {
            self.position = position
            self.cosLatitude = Sphere.cosineOfLatitude(position.latitude)
        }

        /// The great-circle distance to `other`, rounded to the nearest micrometre.
        public func distance(to other: Coordinate) -> Distance { .meters(meters(to: other)) }

        /// The great-circle distance to `other` in metres.
        ///
        /// `near` is the haversine of the central angle, `far` that of its supplement, each a sum
        /// of terms that are not negative. The sine of half the angle alone cannot resolve angles
        /// near 180°, and `1 - near` loses there what `far` keeps. So the arc sine of `near`
        /// serves up to 60°, and beyond it the arc tangent of the two, well conditioned everywhere.
        public func meters(to other: Coordinate) -> Double {
            let half = Self.half
            let turn = abs(position.longitude - other.longitude)
            let apart = turn > 180 ? 360 - turn : turn
            let product = cosLatitude * Sphere.cosineOfLatitude(other.latitude)
            let latitudeSine = Sphere.sine((position.latitude - other.latitude) * half)
            let longitudeSine = Sphere.sine(apart * half)
            let near = latitudeSine * latitudeSine + product * longitudeSine * longitudeSine
            if near <= Series.arcSineBound {
                return 2 * Sphere.radiusMeters * Series.arcSine(ofRoot: near)
            }
            if near <= 0.25 { return 2 * Sphere.radiusMeters * asin(near.squareRoot()) }
            let oppositeSine = sin((position.latitude + other.latitude) * half)
            let longitudeCosine = sin((180 - apart) * half)
            let far = oppositeSine * oppositeSine + product * longitudeCosine * longitudeCosine
            return 2 * Sphere.radiusMeters * atan2(near.squareRoot(), far.squareRoot())
        }

        private static let half = Sphere.radiansPerDegree / 2

        /// The great-circle distances in metres to eight places, each `meters(to:)`, bit for bit; nil
        /// where one of them is farther than some 797 km, or not on the same side of the 45th
        /// parallel.
        @inline(__always)
        public func meters(
            toLatitudes latitudes: SIMD8<Double>, longitudes: SIMD8<Double>
        ) -> SIMD8<Double>? {
            let north = absolute(latitudes)
            let nearEquator = north .<= 45
            let cosine: SIMD8<Double>
            if all(nearEquator) {
                cosine = Series.cosine(north * Sphere.radiansPerDegree)
            } else if any(nearEquator) {
                return nil
            } else {
                cosine = Series.sine((90 - north) * Sphere.radiansPerDegree)
            }
            let turn = absolute(position.longitude - longitudes)
            let apart = turn.replacing(with: 360 - turn, where: turn .> 180)
            let (northSouth, eastWest) = (
                (position.latitude - latitudes) * Self.half, apart * Self.half
            )
            guard all((absolute(northSouth) .<= Series.bound) .& (eastWest .<= Series.bound)) else {
                return nil
            }
            let product = cosLatitude * cosine
            let latitudeSine = Series.sine(northSouth)
            let longitudeSine = Series.sine(eastWest)
            let near = latitudeSine * latitudeSine + product * longitudeSine * longitudeSine
            guard all(near .<= Series.arcSineBound) else { return nil }
            return 2 * Sphere.radiusMeters * Series.arcSine(ofRoot: near)
        }
    }
}

extension Series {
    /// Of eight angles from -180 through 180 degrees. They are folded to at most 45 by subtractions
    /// that round nothing.
    @inline(__always)
    static func sineAndCosine(
        ofDegrees angles: SIMD8<Double>
    ) -> (sine: SIMD8<Double>, cosine: SIMD8<Double>) {
        let turn = absolute(angles)
        let isBehind = turn .> 90
        let beside = turn.replacing(with: 180 - turn, where: isBehind)
        let isSteep = beside .> 45
        let angle =
            beside.replacing(with: 90 - beside, where: isSteep) * Sphere.radiansPerDegree
        let (less, more) = (sine(angle), cosine(angle))
        let (sine, cosine) = (
            less.replacing(with: more, where: isSteep), more.replacing(with: less, where: isSteep)
        )
        return (
            sine.replacing(with: -sine, where: angles .< 0),
            cosine.replacing(with: -cosine, where: isBehind)
        )
    }
}

@inline(__always)
private func absolute(_ values: SIMD8<Double>) -> SIMD8<Double> {
    values.replacing(with: -values, where: values .< 0)
}
