import Synchronization

/// What questions about a line need.
final class PreparedLine: Sendable {
    let positions: [Coordinate]
    let tree: StripTree

    private let lengths = AtomicLazyReference<Lengths>()

    init(_ positions: [Coordinate]) throws(InvalidLine) {
        let ends = Sphere.unitVectors(positions)
        for index in 1..<positions.count where ends[index - 1].dot(ends[index]) < -0.99 {
            guard GreatCircleArc(positions[index - 1], positions[index]) != nil else {
                throw InvalidLine(position: index)
            }
        }
        self.positions = positions
        tree = StripTree(ends: ends) { Self.frame(positions[$0], positions[$0 + 1]) }
    }

    /// Metres from the beginning of the line to each position. They are summed when they are first
    /// asked for: to find what is near a line takes none.
    var begins: [Double] {
        if let lengths = lengths.load() { return lengths.begins }
        return lengths.storeIfNil(Lengths(positions)).begins
    }

    func frame(of arc: Int) -> GreatCircleArc { Self.frame(positions[arc], positions[arc + 1]) }

    private static func frame(_ a: Coordinate, _ b: Coordinate) -> GreatCircleArc {
        guard let arc = GreatCircleArc(a, b) else {
            preconditionFailure("an arc between antipodes, \(a) and \(b)")
        }
        return arc
    }

    /// The nearest place of an arc, whose frame is given.
    ///
    /// - Parameter measuresAlong: whether the place along the line matters; if not, it is 0.
    func nearest(
        to place: SIMD3<Double>, of position: Coordinate, onArc arc: Int, _ frame: GreatCircleArc,
        measuresAlong: Bool
    ) -> GeoLine.Nearest {
        if let beside = frame.angleBeside(place) {
            let distance = Distance.meters(beside * Sphere.radiusMeters)
            guard measuresAlong else { return GeoLine.Nearest(distance: distance, along: .zero) }
            let (begin, end) = (begins[arc], begins[arc + 1])
            let ahead = (begin + end) / 2 + frame.angleAhead(place) * Sphere.radiusMeters
            return GeoLine.Nearest(
                distance: distance, along: .meters(min(max(ahead, begin), end)))
        }
        let origin = Sphere.Origin(position)
        let first = origin.distance(to: positions[arc])
        let last = origin.distance(to: positions[arc + 1])
        func end(_ number: Int) -> Distance { measuresAlong ? .meters(begins[number]) : .zero }
        return first <= last
            ? GeoLine.Nearest(distance: first, along: end(arc))
            : GeoLine.Nearest(distance: last, along: end(arc + 1))
    }
}

/// The lengths of a line up to its positions.
private final class Lengths: Sendable {
    let begins: [Double]

    init(_ positions: [Coordinate]) {
        var (begins, lost) = ([0.0], 0.0)
        begins.reserveCapacity(positions.count)
        for (index, (a, b)) in zip(positions, positions.dropFirst()).enumerated() {
            // Kahan's sum: what one addition loses goes into the next.
            let (sum, term) = (begins[index], Sphere.meters(a, b) - lost)
            begins.append(sum + term)
            lost = (begins[index + 1] - sum) - term
        }
        self.begins = begins
    }
}
