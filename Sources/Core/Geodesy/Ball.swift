/// A ball in space: a bound of what lies in it.
struct Ball: BitwiseCopyable, Sendable {
    let center: SIMD3<Double>
    /// Negative infinity is the empty ball.
    let radius: Double

    static let empty = Ball(center: .zero, radius: -.infinity)

    init(center: SIMD3<Double>, radius: Double) {
        self.center = center
        self.radius = radius
    }

    /// About the smallest ball that holds both.
    init(_ a: Ball, _ b: Ball) {
        let apart = (b.center - a.center).length
        if b.radius + apart <= a.radius {
            self = a
        } else if a.radius + apart <= b.radius {
            self = b
        } else {
            let radius = (apart + a.radius + b.radius) / 2
            self.init(
                center: a.center + (b.center - a.center) * ((radius - a.radius) / apart),
                radius: radius + Self.rounding)
        }
    }

    /// More than one step of rounding of vectors of length 1 takes.
    private static let rounding = 1e-15

    /// Inequality: true where a point of the ball is at most this far from the place.
    @inline(__always)
    func mayMeet(within distance: Double, of place: SIMD3<Double>) -> Bool {
        let reach = distance + radius + Self.rounding
        return reach >= 0 && squaredDistance(to: place) <= reach * reach
    }

    /// From the centre.
    @inline(__always)
    func squaredDistance(to place: SIMD3<Double>) -> Double {
        let way = place - center
        return way.dot(way)
    }
}

extension SIMD3<Double> {
    @inline(__always)
    func dot(_ other: SIMD3<Double>) -> Double {
        x * other.x + y * other.y + z * other.z
    }

    func cross(_ other: SIMD3<Double>) -> SIMD3<Double> {
        SIMD3(
            y * other.z - z * other.y, z * other.x - x * other.z, x * other.y - y * other.x)
    }

    var length: Double { dot(self).squareRoot() }
}
