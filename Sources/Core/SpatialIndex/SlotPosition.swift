import Geodesy

/// Where the object of a slot is: nowhere, at one point or at several.
public enum SlotPosition: Sendable, Hashable {
    /// The object has no point, or the slot has no object.
    case nowhere
    /// The only point, with the numbers that were given.
    case one(Coordinate)
    /// At least two points, no two of which have identical numbers.
    case several([Coordinate])

    /// The position of an object with these points. Points with identical numbers count once.
    public init(_ points: some Collection<Coordinate>) {
        guard points.count > 1 else {
            self = points.first.map { .one($0) } ?? .nowhere
            return
        }
        var known: Set<SIMD2<UInt64>> = []
        let distinct = points.filter {
            known.insert(SIMD2($0.latitude.bitPattern, $0.longitude.bitPattern)).inserted
        }
        self = distinct.count > 1 ? .several(distinct) : .one(distinct[0])
    }

    /// The points, in the order in which they were given.
    public var points: [Coordinate] {
        switch self {
        case .nowhere: []
        case .one(let point): [point]
        case .several(let points): points
        }
    }

    /// The number of points.
    public var count: Int {
        switch self {
        case .nowhere: 0
        case .one: 1
        case .several(let points): points.count
        }
    }

    /// The distance of the nearest point by a measure; nil if there is none.
    public func distance(by measure: GeoMeasure) -> Distance? {
        switch self {
        case .nowhere: nil
        case .one(let point): measure.distance(to: point)
        case .several(let points): measure.nearest(points)
        }
    }
}

extension Coordinate {
    /// Whether both coordinates have bitwise identical numbers.
    func isIdentical(to other: Coordinate) -> Bool {
        latitude.bitPattern == other.latitude.bitPattern
            && longitude.bitPattern == other.longitude.bitPattern
    }
}
