/// The shorter great-circle arc between two places, as a curve in space on the unit sphere.
///
/// Its frame is three unit vectors at right angles: to the middle of the arc, from there along the
/// arc, and normal to its plane. In this frame the arc is all (cos t, sin t, 0) with t from minus
/// half its angle to half its angle.
///
/// The frame comes from the sum and the difference of the vectors of both ends. These are written as
/// products of sines of half sums and half differences of degrees, which binary64 subtracts exactly
/// where they are small. So the frame is within 5e-15 for an arc of a millimetre as for one that
/// misses the antipode by a millimetre. An arc of no length has any frame at its place.
struct GreatCircleArc: BitwiseCopyable, Sendable {
    let middle, forward, normal: SIMD3<Double>
    /// Of half the angle of the arc.
    let sine, cosine: Double

    /// Nil for antipodes, between which every great circle is as short.
    init?(_ a: Coordinate, _ b: Coordinate) {
        let turn = Turn(from: a.longitude, to: b.longitude)
        let (south, north) = (min(a.latitude, b.latitude), max(a.latitude, b.latitude))
        let pole: Double = a.latitude + b.latitude < 0 ? -90 : 90
        let sineMean = Self.sine(a.latitude + b.latitude)
        let cosineMean = Self.sine(abs(pole - a.latitude) + abs(pole - b.latitude))
        let sineRise = Self.sine(b.latitude - a.latitude)
        let cosineRise = Self.sine((90 - north) + (90 + south))
        let (sineTurn, cosineTurn) = (Self.sine(turn.east), Self.sine(turn.missing))

        let sum = SIMD3(
            cosineMean * cosineRise * cosineTurn, -sineMean * sineRise * sineTurn,
            sineMean * cosineRise)
        let difference = SIMD3(
            -sineMean * sineRise * cosineTurn, cosineMean * cosineRise * sineTurn,
            cosineMean * sineRise)
        cosine = sum.length
        guard cosine > 0 else { return nil }
        let length = difference.length
        sine = length > Self.leastSine ? length : 0
        let meridian = (a.longitude + turn.east / 2) * Sphere.radiansPerDegree
        middle = (sum / cosine).turned(by: meridian)
        forward = (sine > 0 ? difference / length : SIMD3(0, 1, 0)).turned(by: meridian)
        normal = middle.cross(forward)
    }

    /// Below it squares lose digits; much less than the distance of any two places but those about
    /// the place 0, 0.
    private static let leastSine = 1e-100

    /// The sine of half an angle in degrees.
    private static func sine(_ degrees: Double) -> Double {
        Sphere.sine(degrees * (Sphere.radiansPerDegree / 2))
    }

    /// The squared distance in space from a point, on the sphere or not, to the nearest of the arc.
    @inline(__always)
    func squaredChord(to point: SIMD3<Double>) -> Double {
        let x = point.dot(middle)
        let y = abs(point.dot(forward))
        let z = point.dot(normal)
        if y * cosine < x * sine {
            let beside = 1 - (x * x + y * y).squareRoot()
            return beside * beside + z * z
        }
        return (x - cosine) * (x - cosine) + (y - sine) * (y - sine) + z * z
    }

    /// The angle in radians from a point on the sphere to its nearest place, if that lies between the
    /// ends; nil if an end is as near.
    func angleBeside(_ point: SIMD3<Double>) -> Double? {
        let (x, y) = (point.dot(middle), point.dot(forward))
        guard abs(y) * cosine < x * sine else { return nil }
        return Sphere.angle(sine: abs(point.dot(normal)), cosine: (x * x + y * y).squareRoot())
    }

    /// How far in front of the middle the nearest place of the great circle lies, in radians.
    func angleAhead(_ point: SIMD3<Double>) -> Double {
        Sphere.angle(sine: point.dot(forward), cosine: point.dot(middle))
    }

    /// The place so many radians in front of the middle.
    func place(_ ahead: Double) -> SIMD3<Double> {
        let (sine, cosine) = Sphere.sineAndCosine(ahead)
        return middle * cosine + forward * sine
    }
}

/// The shorter way from one meridian to another, in degrees; neither number is rounded where it is
/// little.
private struct Turn {
    /// Negative to the west.
    let east: Double
    /// How much less than 180° it is.
    let missing: Double

    init(from a: Double, to b: Double) {
        let turn = b - a
        if abs(turn) <= 180 {
            east = turn
        } else {
            east = turn > 0 ? -((180 - b) + (180 + a)) : (180 - a) + (180 + b)
        }
        let (less, more) = (min(abs(a), abs(b)), max(abs(a), abs(b)))
        missing = abs((a < 0) == (b < 0) ? (180 - more) + less : (180 - more) - less)
    }
}

extension SIMD3<Double> {
    /// The vector turned about the axis through the poles, to the east for a positive angle.
    fileprivate func turned(by angle: Double) -> SIMD3<Double> {
        let (sine, cosine) = Sphere.sineAndCosine(angle)
        return SIMD3(x * cosine - y * sine, x * sine + y * cosine, z)
    }
}
