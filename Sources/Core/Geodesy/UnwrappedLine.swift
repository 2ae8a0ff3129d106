/// A position with a longitude that goes on over the antimeridian.
struct UnwrappedCorner: Equatable {
    let longitude: UnwrappedLongitude
    let latitude: Double

    /// The same place, so many times less around to the east.
    func less(turns: Int) -> UnwrappedCorner {
        UnwrappedCorner(
            longitude: UnwrappedLongitude(longitude.longitude, turns: longitude.turns - turns),
            latitude: latitude)
    }
}

/// A line laid out in the plane, from longitude -180 ..< 180 on, however often it runs around the
/// earth.
struct UnwrappedLine {
    let corners: [UnwrappedCorner]

    init(_ positions: ArraySlice<Coordinate>) {
        var (turns, before) = (0, positions[positions.startIndex].longitude)
        var corners: [UnwrappedCorner] = []
        corners.reserveCapacity(positions.count)
        for position in positions {
            turns = UnwrappedLongitude.turns(after: turns, from: before, to: position.longitude)
            corners.append(
                UnwrappedCorner(
                    longitude: UnwrappedLongitude(position.longitude, turns: turns),
                    latitude: position.latitude))
            before = position.longitude
        }
        let base = corners[0].longitude.turns
        self.corners = base == 0 ? corners : corners.map { $0.less(turns: base) }
    }
}
