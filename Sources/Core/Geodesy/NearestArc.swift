import CLanes

/// A search for the arc of a line that is nearest to a place.
///
/// Strips bound distances in single precision; those that may have the nearest place are opened. Of
/// the arcs that remain the exact distance decides.
///
/// Inequality: the distance of the place to a strip's part is at most `most` and at least `least`,
/// both as computed here, and any arc that is as near as the nearest but for `GeoLine.chordSlack` is
/// looked at.
struct NearestArc {
    private let line: PreparedLine
    private let groups: StripGroups
    private let position: Coordinate
    private let place: SIMD3<Double>
    private let point: SIMD3<Float>
    private let measuresAlong: Bool

    /// A bound: the line has a place that is no farther, unless the search began with less.
    private(set) var reach: Float
    /// The search may end when the bound is as little.
    private let enough: Float

    /// Pieces that are still to be measured, and how far away they are at least.
    private var pieces = SIMD8<UInt32>()
    private var leasts = SIMD8<Float>()
    private var pieceCount = 0

    private var chord = Double.infinity
    private var arc = -1
    private var found = GeoLine.Nearest(distance: .zero, along: .zero)

    /// - Parameters:
    ///   - reach: nothing farther away is found.
    ///   - enough: ends the search when the line is known to be as near.
    init(
        _ line: PreparedLine, _ groups: StripGroups, to position: Coordinate,
        within reach: Float = .infinity, enough: Float = -1, measuresAlong: Bool
    ) {
        self.line = line
        self.groups = groups
        self.position = position
        self.measuresAlong = measuresAlong
        self.reach = reach
        self.enough = enough
        place = Sphere.unitVector(position)
        point = SIMD3<Float>(place)
    }

    var isOver: Bool { reach <= enough }

    /// The nearest place, if it is no farther than the search reaches.
    var nearest: GeoLine.Nearest? {
        mutating get {
            settle()
            return arc < 0 ? nil : found
        }
    }

    /// Looks at the whole line.
    mutating func lookEverywhere() { open(groups.root) }

    /// Looks at what a strip covers.
    mutating func look(at strip: Strip, of part: StripTree.Part) {
        let distance = strip.distance(point)
        let slack = distance * Strip.relativeError + (strip.stray + Self.pointError)
        reach = min(reach, distance + slack)
        look(at: part, least: distance - slack)
    }

    private mutating func look(at part: StripTree.Part, least: Float) {
        guard least <= reach, !isOver else { return }
        guard part.isPiece else { return open(part.group) }
        if pieceCount == pieces.scalarCount { settle() }
        pieces[pieceCount] = UInt32(part.piece)
        leasts[pieceCount] = least
        pieceCount += 1
    }

    private mutating func open(_ number: Int) {
        withUnsafeTemporaryAllocation(of: Float.self, capacity: StripTree.fanout) { least in
            var rest = gb_strips_near(
                groups[number], point.x, point.y, point.z, Self.pointError, 0, .infinity, &reach,
                least.baseAddress!)
            while rest != 0 {
                // The nearest first, so that the others may be left out.
                var (lane, others) = (rest.trailingZeroBitCount, rest & (rest - 1))
                while others != 0 {
                    let other = others.trailingZeroBitCount
                    others &= others - 1
                    if least[other] < least[lane] { lane = other }
                }
                rest &= ~(1 << UInt16(lane))
                look(at: groups.part(number, lane), least: least[lane])
            }
        }
    }

    /// Measures the arcs that are left.
    private mutating func settle() {
        guard !isOver else { return }
        for number in 0..<pieceCount where leasts[number] <= reach {
            let arc = line.tree.arc(Int(pieces[number]))
            guard arc != self.arc else { continue }
            let frame = line.frame(of: arc)
            let chord = frame.squaredChord(to: place).squareRoot()
            guard chord <= self.chord + GeoLine.chordSlack else { continue }
            let nearest = line.nearest(
                to: place, of: position, onArc: arc, frame, measuresAlong: measuresAlong)
            let isNearer =
                self.arc < 0
                || (nearest.distance, arc) < (found.distance, self.arc)
            if isNearer { (found, self.arc) = (nearest, arc) }
            self.chord = min(self.chord, chord)
            reach = min(reach, Float(chord + 1e-9).nextUp)
        }
        pieceCount = 0
    }

    /// The square root of 3 times 2^-25, rounded up.
    private static let pointError: Float = 5.2e-8
}
