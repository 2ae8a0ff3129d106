/// Bounds of the haversine of the angle between a place and those of a rectangle of degrees: a number
/// from 0 to 1 that ranks as the great-circle distance does.
public struct HaversineBound: Sendable {
    private let center: Coordinate
    private let cosLatitude: Double

    /// Bounds from this place.
    public init(from center: Coordinate) {
        self.center = center
        cosLatitude = Sphere.cosineOfLatitude(center.latitude)
    }

    /// Inequality: the haversine of every place of the rectangle is at least this.
    ///
    /// Proof: a haversine is the sum of the squared sine of half the difference of latitudes, and that of
    /// half the difference of longitudes times the cosines of both latitudes. The least of each factor is
    /// taken: of the cosine of latitudes, at the edge nearer to a pole.
    ///
    /// - Parameters: the edges in degrees; longitudes from -180 through 540, west not beyond east.
    public func leastHaversine(south: Double, west: Double, north: Double, east: Double) -> Double {
        let apart = Self.sineOfHalf(max(0, south - center.latitude, center.latitude - north))
        var turn = 180.0
        for around in [-360.0, 0, 360] {
            let meridian = center.longitude + around
            turn = min(turn, max(0, west - meridian, meridian - east))
        }
        let least = apart * apart
        guard turn > 0 else { return least * Self.slack }
        let side = Self.sineOfHalf(turn)
        let cosine = min(Sphere.cosineOfLatitude(south), Sphere.cosineOfLatitude(north))
        return (least + cosLatitude * cosine * side * side) * Self.slack
    }

    /// Inequality: the haversine of every place of the rectangle is at most this.
    func greatestHaversine(south: Double, west: Double, north: Double, east: Double) -> Double {
        let apart = Self.sineOfHalf(max(center.latitude - south, north - center.latitude))
        var turn = 0.0
        for edge in [west, east] {
            turn = max(turn, abs((edge - center.longitude).remainder(dividingBy: 360)))
        }
        // Where the opposite meridian lies between the edges, that is the farthest.
        let opposite = center.longitude + 180
        let isOpposite = [-360.0, 0, 360].contains {
            west <= opposite + $0 && opposite + $0 <= east
        }
        let side = isOpposite ? 1 : Self.sineOfHalf(turn)
        let cosine = Sphere.cosineOfLatitude(max(0, south, -north))
        return (apart * apart + cosLatitude * cosine * side * side) / Self.slack
    }

    /// More than rounding makes.
    private static let slack = 1 - 1e-13

    /// The greatest haversine of places within a distance, and a little more.
    ///
    /// Inequality: what has a greater haversine is farther than this, also when the distance is rounded
    /// to the micrometre.
    public static func haversine(beyond meters: Double) -> Double {
        let angle = (meters + 1e-5) / Sphere.radiusMeters
        guard angle < .pi else { return .infinity }
        let sine = Sphere.sine(angle / 2)
        return sine * sine / slack
    }

    static func sineOfHalf(_ degrees: Double) -> Double {
        Sphere.sine(degrees * (Sphere.radiansPerDegree / 2))
    }
}
