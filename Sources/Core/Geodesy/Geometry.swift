/// Lines or areas that an object holds: a GeoJSON geometry of one of four types.
///
///     let road = try Geometry(.lineString, parts: [[[oslo, hamar, lillehammer]]])
///     road.positions.count        // 3
///
/// Edges are straight in longitude and latitude, as in RFC 7946; one longer than 180° of longitude
/// crosses the antimeridian the short way. Rings, holes and poles are as of `GeoPolygon`.
///
/// A value: its hash and equality are those of the numbers given. `PreparedPlace` answers questions.
///
/// - Complexity: to make one O(n log n) for n positions of most areas, which GEOS takes to find them
///   valid; O(n) for lines and for what is known to be valid.
public struct Geometry: Sendable {
    /// The types, by their names in GeoJSON.
    public enum Kind: String, Sendable, CaseIterable {
        /// An area with perhaps holes.
        case polygon = "Polygon"
        /// Several areas.
        case multiPolygon = "MultiPolygon"
        /// A line.
        case lineString = "LineString"
        /// Several lines.
        case multiLineString = "MultiLineString"

        /// Whether the type is of areas, not of lines.
        public var isArea: Bool { self == .polygon || self == .multiPolygon }
        /// Whether the type is of any number of parts.
        public var isMulti: Bool { self == .multiPolygon || self == .multiLineString }
    }

    /// The type.
    public let kind: Kind

    /// All positions, ring after ring or line after line, with exactly the numbers given.
    public let positions: [Coordinate]

    /// Where each ring or line ends in `positions`, and each part in `runEnds`.
    let runEnds, partEnds: [Int32]

    /// A geometry of parts: the rings of each polygon, the shell first, or each line by itself.
    ///
    /// - Parameter isKnownToBeValid: whether this is known to have been made before, so that GEOS
    ///   need not be asked.
    /// - Throws: `InvalidGeometry` for what GEOS calls no valid polygons, and for lines without two
    ///   different places.
    public init(
        _ kind: Kind, parts: [[[Coordinate]]], isKnownToBeValid: Bool = false
    ) throws(InvalidGeometry) {
        precondition(kind.isMulti || parts.count == 1, "a \(kind.rawValue) of \(parts.count) parts")
        if kind.isArea {
            do throws(InvalidPolygon) {
                let area = try UnwrappedArea(parts)
                if isKnownToBeValid { try area.requireWidth() } else { try area.validate() }
            } catch {
                throw InvalidGeometry(reason: error.reason, part: error.polygon, ring: error.ring)
            }
        } else {
            try Self.validate(lines: parts)
        }
        self.kind = kind
        positions = parts.joined().flatMap { $0 }
        (runEnds, partEnds) = (
            Self.ends(parts.joined().lazy.map(\.count)), Self.ends(parts.lazy.map(\.count))
        )
    }

    /// The rings of each polygon, the shell first, or each line by itself.
    public var parts: [[[Coordinate]]] {
        var (run, position) = (0, 0)
        return partEnds.map { partEnd in
            (run..<Int(partEnd)).map { number in
                defer { (run, position) = (number + 1, Int(runEnds[number])) }
                return Array(positions[position..<Int(runEnds[number])])
            }
        }
    }

    private static func ends(_ counts: some Sequence<Int>) -> [Int32] {
        var end = 0
        return counts.map { count in
            end += count
            return Int32(end)
        }
    }

    private static func validate(lines: [[[Coordinate]]]) throws(InvalidGeometry) {
        guard !lines.isEmpty else { throw InvalidGeometry(reason: "There is no line") }
        for (number, line) in lines.enumerated() {
            precondition(line.count == 1, "a line of \(line.count) lines")
            guard line[0].contains(where: { $0 != line[0][0] }) else {
                throw InvalidGeometry(
                    reason: "Too few points: a line has two different positions or more",
                    part: number)
            }
        }
    }
}

extension Geometry: Hashable {
    /// Same type and same numbers in the same order: 180 and -180 differ, since they can stand for
    /// other edges.
    public static func == (a: Geometry, b: Geometry) -> Bool {
        a.kind == b.kind && a.runEnds == b.runEnds && a.partEnds == b.partEnds
            && a.positions == b.positions
            && a.positions.elementsEqual(b.positions) { $0.longitude == $1.longitude }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(positions)
    }
}

/// Why parts are no geometry.
public struct InvalidGeometry: Error, Sendable, Hashable {
    /// The reason, GEOS' own for areas, with the place as longitude and latitude where there is one.
    public let reason: String

    /// Which polygon or line, where it is the fault of one.
    public let part: Int?
    /// Which of the polygon's rings, 0 for the shell, where it is the fault of one.
    public let ring: Int?

    init(reason: String, part: Int? = nil, ring: Int? = nil) {
        self.reason = reason
        self.part = part
        self.ring = ring
    }
}
