import Foundation

/// A line of great-circle arcs on the sphere, asked edge by edge in the widest arithmetic at hand.
///
/// Each edge is looked at from its first end, in the frame of north and east there: a way unlike the
/// product's. With 64 bits of significand the error stays below 1e-9 m, if no edge comes within a
/// kilometre of half the circumference.
public struct OracleLine {
    /// The nearest place of one edge.
    public struct Place {
        let meters, along: Wide
        /// How much of a step along the edge moves the place away from the point: 0 at the edge's
        /// pole, where every place is as near.
        let steadiness: Wide

        /// How far the product's distance and place along the line may be off before it rounds.
        private static let tolerance: Wide = 1e-8

        /// From the point to the place, before it is rounded.
        public var exactMeters: Double { Double(meters) }
        /// From the beginning of the line to the place, before it is rounded.
        public var exactAlong: Double { Double(along) }

        /// From the point to the place.
        public var micrometers: Int64 { Self.rounded(meters) }
        /// From the beginning of the line to the place.
        public var alongMicrometers: Int64 { Self.rounded(along) }

        /// Whether the product's arithmetic may round either to the next micrometre.
        var isNearRounding: Bool {
            Self.isNear(meters, Self.tolerance)
                || Self.isNear(along, Self.tolerance / max(steadiness, 1e-9))
        }

        private static func rounded(_ meters: Wide) -> Int64 { Int64((meters * 1e6).rounded()) }

        private static func isNear(_ meters: Wide, _ tolerance: Wide) -> Bool {
            let scaled = meters * 1e6
            return abs(scaled - scaled.rounded(.down) - 0.5) / 1e6 < tolerance
        }
    }

    private let positions: [OraclePosition]
    /// Metres from the beginning to each position.
    private let begins: [Wide]

    init(_ positions: [OraclePosition]) {
        self.positions = positions
        var begins: [Wide] = [0]
        for (a, b) in zip(positions, positions.dropFirst()) {
            begins.append(begins.last! + OracleDistance(a, b, model: nil).meters)
        }
        self.begins = begins
    }

    /// A GeoJSON LineString.
    init(_ geometry: JSONValue) {
        self.init(
            geometry["coordinates"]!.array!.map {
                OraclePosition(.point($0[1]!.double!, $0[0]!.double!))!
            })
    }

    /// A line through places in degrees.
    public init(_ positions: [(latitude: Double, longitude: Double)]) {
        self.init(positions.map { OraclePosition(.point($0.latitude, $0.longitude))! })
    }

    /// The nearest place to a point in degrees.
    public func nearest(latitude: Double, longitude: Double) -> Place {
        nearest(to: OraclePosition(.point(latitude, longitude))!)
    }

    /// Of edges that are equally near, to the micrometre, the first.
    func nearest(to position: OraclePosition) -> Place {
        let places = places(of: position)
        let least = places.map(\.micrometers).min()!
        return places.first { $0.micrometers == least }!
    }

    /// Whether arithmetic may decide what the nearest place is, or its numbers.
    func isUnsure(of position: OraclePosition) -> Bool {
        let places = places(of: position)
        let least = places.map(\.meters).min()!
        return places.contains { $0.meters < least + 2e-6 && $0.isNearRounding }
    }

    private func places(of position: OraclePosition) -> [Place] {
        begins.indices.dropLast().map { place(of: position, onEdge: $0) }
    }

    private func place(of position: OraclePosition, onEdge edge: Int) -> Place {
        let (a, b) = (positions[edge], positions[edge + 1])
        if let place = foot(of: position, a, b, from: begins[edge]) { return place }
        let first = OracleDistance(a, position, model: nil)
        let last = OracleDistance(b, position, model: nil)
        return first.micrometers <= last.micrometers
            ? Place(meters: first.meters, along: begins[edge], steadiness: 1)
            : Place(meters: last.meters, along: begins[edge + 1], steadiness: 1)
    }

    private func foot(
        of position: OraclePosition, _ a: OraclePosition, _ b: OraclePosition, from begin: Wide
    ) -> Place? {
        let (end, point) = (Self.seen(b, from: a), Self.seen(position, from: a))
        let reach = (end.north * end.north + end.east * end.east).squareRoot()
        guard reach > 0 else { return nil }
        let forward = (point.north * end.north + point.east * end.east) / reach
        let beside = (point.north * end.east - point.east * end.north) / reach
        let angle = atan2(forward, point.up)
        guard angle > 0, angle < atan2(reach, end.up) else { return nil }
        let inPlane = (forward * forward + point.up * point.up).squareRoot()
        return Place(
            meters: 6_371_000 * atan2(abs(beside), inPlane), along: begin + 6_371_000 * angle,
            steadiness: inPlane)
    }

    /// The direction of a place in the frame of another: its parts to the north, to the east and up.
    private static func seen(
        _ place: OraclePosition, from a: OraclePosition
    ) -> (north: Wide, east: Wide, up: Wide) {
        let degree = Wide.pi / 180
        // Over the antimeridian a small turn has digits that the sine of a large one loses.
        let east = Wide(place.longitude) - Wide(a.longitude)
        let turn = (east > 180 ? east - 360 : (east < -180 ? east + 360 : east)) * degree
        let (sineA, cosineA) = OracleDistance.sineAndCosine(a.latitude, Wide(a.latitude) * degree)
        let (sine, cosine) = OracleDistance.sineAndCosine(
            place.latitude, Wide(place.latitude) * degree)
        let half = sin(turn / 2)
        let rise = sin((Wide(place.latitude) - Wide(a.latitude)) * degree)
        return (
            rise + 2 * sineA * cosine * half * half, cosine * sin(turn),
            sineA * sine + cosineA * cosine * cos(turn)
        )
    }
}
