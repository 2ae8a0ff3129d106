import Foundation

/// The length of the shortest geodesic on WGS 84, found apart from the product's: the azimuth by
/// bisection, the integrals by Gauss and Legendre's quadrature, in the widest arithmetic at hand.
///
/// With 64 bits of significand the error stays below 1e-10 m, antipodes included.
///
/// - Reference: the integrals are Bessel's, "The calculation of longitude and latitude from
///   geodesic measurements", 1825, in Karney's notation (J. Geodesy 87, 2013, equations 7 and 8).
struct OracleGeodesic {
    let meters: Wide

    private static let equatorRadius: Wide = 6_378_137
    private static let flattening: Wide = 1 / 298.257_223_563
    private static let polarRadius = equatorRadius * (1 - flattening)

    /// A reduced latitude.
    private struct Reduced {
        var sine, cosine: Wide

        init(_ degrees: Wide) {
            let y = (1 - flattening) * sin(degrees * .pi / 180)
            let x = degrees.magnitude == 90 ? 0 : cos(degrees * .pi / 180)
            let length = (x * x + y * y).squareRoot()
            (sine, cosine) = (y / length, x / length)
        }

        var angle: Wide { atan2(sine, cosine) }
    }

    init(_ a: OraclePosition, _ b: OraclePosition) {
        // Mirrored and swapped so that the first place is the one farther from the equator, south.
        var (first, second) = (Wide(a.latitude), Wide(b.latitude))
        if first.magnitude < second.magnitude { swap(&first, &second) }
        if first > 0 { (first, second) = (-first, -second) }
        var turn = (Wide(a.longitude) - Wide(b.longitude)).magnitude
        if turn > 180 { turn = 360 - turn }
        meters = Self.meters(
            Reduced(first == 0 ? -0.0 : first), Reduced(second), turn: turn * .pi / 180,
            isMeridian: turn == 0 || first == -90, isOverPole: turn == 180)
    }

    private static func meters(
        _ first: Reduced, _ second: Reduced, turn: Wide, isMeridian: Bool, isOverPole: Bool
    ) -> Wide {
        if isMeridian { return length(from: first.angle, to: second.angle, cosAlpha: 1) }
        if isOverPole { return length(from: -.pi - second.angle, to: first.angle, cosAlpha: 1) }
        let isOnEquator = first.sine == 0 && second.sine == 0
        if isOnEquator && turn <= (1 - flattening) * .pi { return equatorRadius * turn }
        // The longitude reached grows with the azimuth from 0 to π.
        var (low, high): (Wide, Wide) = (0, .pi)
        for _ in 0..<70 {
            let middle = (low + high) / 2
            if Arc(first, second, azimuth: middle).turn < turn {
                low = middle
            } else {
                high = middle
            }
        }
        let arc = Arc(first, second, azimuth: (low + high) / 2)
        return length(from: arc.start, to: arc.end, cosAlpha: arc.cosAlpha)
    }

    /// The piece of a geodesic between two latitudes that leaves the first at some azimuth.
    private struct Arc {
        /// The azimuth at the equator; arc lengths on the auxiliary sphere from there.
        let sinAlpha, cosAlpha, start, end: Wide
        private let sphereTurn: Wide

        init(_ first: Reduced, _ second: Reduced, azimuth: Wide) {
            let (sine, cosine) = (sin(azimuth), cos(azimuth))
            sinAlpha = sine * first.cosine
            cosAlpha =
                (cosine * cosine + sine * sine * first.sine * first.sine).squareRoot()
            let along = cosine * first.cosine
            let difference = (first.sine - second.sine) * (first.sine + second.sine)
            let alongSecond = max(0, along * along + difference).squareRoot()
            start = atan2(first.sine, along)
            end = atan2(second.sine, alongSecond)
            sphereTurn =
                atan2(sinAlpha * second.sine, alongSecond) - atan2(sinAlpha * first.sine, along)
        }

        /// The longitude between both ends.
        var turn: Wide {
            let f = flattening
            let integral = OracleGeodesic.integral(from: start, to: end) { sigma in
                (2 - f) / (1 + (1 - f) * OracleGeodesic.stretch(sigma, cosAlpha))
            }
            return sphereTurn - f * sinAlpha * integral
        }
    }

    private static func length(from start: Wide, to end: Wide, cosAlpha: Wide) -> Wide {
        polarRadius * integral(from: start, to: end) { stretch($0, cosAlpha) }
    }

    private static func stretch(_ sigma: Wide, _ cosAlpha: Wide) -> Wide {
        let secondEccentricity = 1 / ((1 - flattening) * (1 - flattening)) - 1
        let part = cosAlpha * sin(sigma)
        return (1 + secondEccentricity * part * part).squareRoot()
    }

    private static func integral(
        from start: Wide, to end: Wide, _ function: (Wide) -> Wide
    ) -> Wide {
        let (middle, half) = ((start + end) / 2, (end - start) / 2)
        return half * nodes.reduce(0) { $0 + $1.weight * function(middle + half * $1.position) }
    }

    /// The 24 nodes of Gauss and Legendre, zeros of the Legendre polynomial by Newton's method.
    private static let nodes: [(position: Wide, weight: Wide)] = (1...24).map { number in
        var x = cos(.pi * (Wide(number) - 0.25) / 24.5)
        var slope: Wide = 0
        for _ in 0..<8 {
            var (last, value): (Wide, Wide) = (1, x)
            for degree in 2...24 {
                let n = Wide(degree)
                (last, value) = (value, ((2 * n - 1) * x * value - (n - 1) * last) / n)
            }
            slope = 24 * (x * value - last) / (x * x - 1)
            x -= value / slope
        }
        return (x, 2 / ((1 - x * x) * slope * slope))
    }
}
