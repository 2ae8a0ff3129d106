import CLanes

/// A line on the unit sphere, found by place: a tree of strips over runs of consecutive pieces.
///
/// A piece is an arc or, of a long one, a part of it. Consecutive pieces lie together, so the tree
/// needs no sorting. Strips are packed in groups of sixteen; strip i of a level covers group i of
/// the level below, and a strip of the lowest level is a piece.
///
/// - Complexity: to make one O(n) for n pieces.
struct StripTree: Sendable {
    /// The groups, level by level, the lowest first. The last is the root.
    private var groups: [StripGroup]
    /// What the first strip of each group covers; those of the others follow it.
    private var parts: [Part]
    /// The arc of each piece; nil if each is an arc.
    private let arcs: [UInt32]?

    /// What a strip covers: a group, or a piece.
    struct Part: BitwiseCopyable, Sendable {
        let bits: UInt32

        init(bits: UInt32) { self.bits = bits }
        init(group: Int) { bits = UInt32(group) }
        init(piece: Int) { bits = UInt32(piece) | 1 << 31 }

        func advanced(by count: Int) -> Part { Part(bits: bits + UInt32(count)) }

        var group: Int { Int(bits) }
        var piece: Int { Int(bits & ~(1 << 31)) }
        var isPiece: Bool { bits >> 31 == 1 }
    }

    /// How many pieces long arcs are cut into, all together and at most, beside the number of arcs.
    private static let morePieces = 1 << 15

    /// A longer arc is cut: about 25 km, which strays by 12 m.
    private static let longestPiece = 1.0 / 256

    static let fanout = 16

    /// - Parameters:
    ///   - ends: the ends of the arcs on the unit sphere, within 1e-14.
    ///   - arc: the arc of a number, which must be exact where it is long.
    init(ends: [SIMD3<Double>], arc: (Int) -> GreatCircleArc) {
        let count = ends.count - 1
        let limit = 1 + Self.morePieces / count
        var (points, arcs) = ([SIMD3<Double>](), [UInt32]())
        for number in 0..<count {
            let way = ends[number + 1] - ends[number]
            guard way.dot(way) > Self.longestPiece * Self.longestPiece else {
                if !points.isEmpty {
                    points.append(ends[number])
                    arcs.append(UInt32(number))
                }
                continue
            }
            if points.isEmpty {
                points = Array(ends[..<number])
                arcs = (0..<UInt32(number)).map { $0 }
            }
            let arc = arc(number)
            let angle = 2 * Sphere.angle(sine: arc.sine, cosine: arc.cosine)
            let pieces = min(limit, Int(angle / Self.longestPiece) + 1)
            for piece in 0..<pieces {
                let ahead = angle * (Double(piece) / Double(pieces) - 0.5)
                points.append(piece == 0 ? ends[number] : arc.place(ahead))
                arcs.append(UInt32(number))
            }
        }
        if points.isEmpty {
            self.init(points: ends, arcs: nil)
        } else {
            points.append(ends[count])
            self.init(points: points, arcs: arcs)
        }
    }

    private init(points: [SIMD3<Double>], arcs: [UInt32]?) {
        var level = Level(points: points)
        (groups, parts, self.arcs) = (level.groups, level.parts, arcs)
        while level.count > Self.fanout {
            level = level.above(first: parts.count - level.parts.count)
            groups += level.groups
            parts += level.parts
        }
    }

    /// Calls `body` with the groups, which it can read as long.
    @inline(__always)
    func withGroups<Result>(_ body: (StripGroups) -> Result) -> Result {
        groups.withUnsafeBufferPointer { groups in
            parts.withUnsafeBufferPointer { parts in
                body(StripGroups(groups: groups.baseAddress!, parts: parts))
            }
        }
    }

    func arc(_ piece: Int) -> Int { arcs.map { Int($0[piece]) } ?? piece }
}

/// The groups of a tree.
struct StripGroups {
    fileprivate let groups: UnsafePointer<StripGroup>
    fileprivate let parts: UnsafeBufferPointer<StripTree.Part>

    var root: Int { parts.count - 1 }

    @inline(__always)
    subscript(group: Int) -> UnsafePointer<StripGroup> { groups + group }

    /// What a strip of a group covers.
    @inline(__always)
    func part(_ group: Int, _ lane: Int) -> StripTree.Part { parts[group].advanced(by: lane) }
}

/// A level of a tree while it is made: strips over runs of `span` pieces.
private struct Level {
    private let points: [SIMD3<Double>]
    private let span: Int
    private let strays: [Double]
    private(set) var groups: [StripGroup] = []
    private(set) var parts: [StripTree.Part] = []

    var count: Int { strays.count }

    /// The pieces themselves.
    init(points: [SIMD3<Double>]) {
        self.init(points: points, span: 1, first: StripTree.Part(piece: 0)) { _, piece in
            piece.sagitta
        }
    }

    /// The level above, whose strips cover the groups of this one from `first` on.
    func above(first: Int) -> Level {
        let fanout = StripTree.fanout
        return Level(points: points, span: span * fanout, first: StripTree.Part(group: first)) {
            number, segment in
            // The distance to a segment is convex, so of a segment below an end is farthest away.
            var (before, stray) = (0.0, 0.0)
            for child in number * fanout..<min((number + 1) * fanout, count) {
                let after = segment.distance(to: end(child))
                stray = max(stray, strays[child] + max(before, after))
                before = after
            }
            return stray
        }
    }

    private init(
        points: [SIMD3<Double>], span: Int, first: StripTree.Part,
        stray: (Int, Segment) -> Double
    ) {
        let (pieces, fanout) = (points.count - 1, StripTree.fanout)
        let count = (pieces + span - 1) / span
        var strays: [Double] = []
        strays.reserveCapacity(count)
        groups = Array(repeating: StripGroup(), count: (count + fanout - 1) / fanout)
        parts = (0..<groups.count).map { first.advanced(by: $0 * fanout) }
        groups.withUnsafeMutableBufferPointer { groups in
            for number in 0..<groups.count * fanout {
                let (group, lane) = (groups.baseAddress! + number / fanout, number % fanout)
                guard number < count else {
                    group.set(lane, .none)
                    continue
                }
                let segment = Segment(
                    points[number * span], points[min((number + 1) * span, pieces)])
                strays.append(stray(number, segment))
                group.set(lane, Strip(segment, stray: strays[number]))
            }
        }
        (self.points, self.span, self.strays) = (points, span, strays)
    }

    private func end(_ number: Int) -> SIMD3<Double> {
        points[min((number + 1) * span, points.count - 1)]
    }
}
