import CLanes

/// A search of a tree of balls in space for what lies in a corridor. Each group of sixteen balls is
/// in a ball of the level above.
///
///     let search = CorridorSearch(corridor)
///     search.overlap(of: balls, level: 3, in: nil)        // the highest
///     search.overlap(of: below, level: 2, in: 5)          // those in its sixth ball
///
/// The balls and the strips of the line are descended together. A ball hands down only those strips
/// that may have the nearest place to something in it, and opens those that stray too far for its
/// size. So it is compared with a handful of strips, however long the line is.
///
/// Inequality: a place in a ball that is not `touched` is outside, one in a ball `inside` is inside.
///
/// Proof: let the distance from the centre of a ball to the line be at least `least` and at most
/// `most`. Those of places in the ball differ from it by its radius at most (the triangle
/// inequality). A strip farther from the centre than `most` and twice the radius has the nearest
/// place to none of them.
///
/// - Precondition: groups are asked about depth first: a group, then those in its balls.
public final class CorridorSearch {
    private let corridor: GeoCorridor

    /// The groups on the way to the last one, by level from -1.
    private let levels: UnsafeMutablePointer<Level>
    /// What each of them needs, six columns.
    private let columns: UnsafeMutablePointer<Float>

    /// The candidates of these groups, the highest first.
    private var candidates: UnsafeMutablePointer<Candidate>
    /// How far a candidate is from the centres at least: a column for each.
    private var leasts: UnsafeMutablePointer<Float>
    private var capacity = 64

    private typealias Candidate = gb_candidate

    private struct Level: BitwiseCopyable {
        let balls: Balls
        /// Those of the group's candidates.
        let first, end: Int
    }

    /// Sixteen balls in space: their centres and radii, sixteen numbers each.
    public struct Balls: BitwiseCopyable {
        let x, y, z, radii: UnsafePointer<Float>

        /// Balls in memory that lasts until the next group of the level.
        @inline(__always)
        public init(
            x: UnsafePointer<Float>, y: UnsafePointer<Float>,
            z: UnsafePointer<Float>, radii: UnsafePointer<Float>
        ) {
            (self.x, self.y, self.z, self.radii) = (x, y, z, radii)
        }
    }

    /// The levels of places, at -1, and of up to so many levels of balls above.
    private static let mostLevels = 9

    /// A strip is opened if it strays farther than this share of the ball above, and of the width.
    private static let (shareOfBall, shareOfWidth) = (Float(1.0 / 16), Float(1.0 / 64))

    /// A search that begins.
    public init(_ corridor: GeoCorridor) {
        self.corridor = corridor
        levels = .allocate(capacity: Self.mostLevels)
        columns = .allocate(capacity: Self.mostLevels * 6 * StripTree.fanout)
        candidates = .allocate(capacity: capacity)
        leasts = .allocate(capacity: StripTree.fanout * capacity)
    }

    deinit {
        levels.deallocate()
        columns.deallocate()
        candidates.deallocate()
        leasts.deallocate()
    }

    /// Memory for the balls of a level: four times sixteen numbers.
    @inline(__always)
    public func room(level: Int) -> UnsafeMutablePointer<Float> {
        columns + 6 * StripTree.fanout * (level + 1)
    }

    /// How far the line is from the centres of a level, at least and at most.
    @inline(__always)
    private func bounds(
        _ level: Int
    ) -> (least: UnsafeMutablePointer<Float>, most: UnsafeMutablePointer<Float>) {
        (room(level: level) + 4 * StripTree.fanout, room(level: level) + 5 * StripTree.fanout)
    }

    /// Which of sixteen balls may hold places in the corridor, and which hold nothing else: bit i is
    /// ball i.
    ///
    /// - Parameters:
    ///   - level: that of the balls: -1 for places, more above.
    ///   - ball: which one of the level above they are in; nil for the highest.
    public func overlap(
        of balls: Balls, level: Int, in ball: Int?
    ) -> (touched: UInt16, inside: UInt16) {
        corridor.line.prepared.tree.withGroups { groups in
            var (first, end, around) = (0, 0, Around.everything)
            if let ball {
                let above = levels[level + 2]
                let most = bounds(level + 1).most
                (first, around) = (above.end, Around(above.balls, ball, most: most))
                end = inherit(from: above, ball)
            } else {
                append(groups, groups.root, within: .infinity, &around, &end)
            }
            open(from: first, to: &end, around, groups)
            return compare(balls, level: level, first, end)
        }
    }

    /// Copies the candidates of a ball behind all others.
    private func inherit(from above: Level, _ ball: Int) -> Int {
        var end = above.end
        for number in above.first..<above.end
        where candidates[number].balls >> UInt16(ball) & 1 == 1 {
            reserve(end + 1)
            candidates[end] = candidates[number]
            end += 1
        }
        return end
    }

    /// Opens candidates that stray far.
    private func open(
        from first: Int, to end: inout Int, _ around: Around, _ groups: StripGroups
    ) {
        var (number, around) = (first, around)
        let limit = max(around.radius * Self.shareOfBall, corridor.outside * Self.shareOfWidth)
        while number < end {
            let part = StripTree.Part(bits: candidates[number].part)
            guard candidates[number].strip.stray > limit, !part.isPiece else {
                number += 1
                continue
            }
            end -= 1
            candidates[number] = candidates[end]
            append(groups, part.group, within: corridor.outside, &around, &end)
        }
    }

    /// Appends the strips of a group that may have the nearest place to something in a ball.
    private func append(
        _ groups: StripGroups, _ number: Int, within width: Float, _ around: inout Around,
        _ end: inout Int
    ) {
        let (group, center) = (groups[number], around.center)
        var rest = gb_strips_near(
            group, center.x, center.y, center.z, 0, 2 * around.radius, width + around.radius,
            &around.most, leasts)
        while rest != 0 {
            let lane = rest.trailingZeroBitCount
            rest &= rest - 1
            reserve(end + 1)
            candidates[end] = Candidate(
                strip: group[lane: lane], part: groups.part(number, lane).bits, balls: 0)
            end += 1
        }
    }

    /// Compares the candidates of a group with each of its balls, and keeps them as the level's.
    private func compare(
        _ balls: Balls, level: Int, _ first: Int, _ end: Int
    ) -> (touched: UInt16, inside: UInt16) {
        let (least, most) = bounds(level)
        var (touched, inside) = (UInt16(0), UInt16(0))
        let kept = gb_compare(
            candidates + first, end - first,
            gb_balls(x: balls.x, y: balls.y, z: balls.z, radii: balls.radii), corridor.outside,
            corridor.inside, least, most, leasts, &touched, &inside)
        levels[level + 1] = Level(balls: balls, first: first, end: first + kept)
        return (touched, inside)
    }

    private func reserve(_ count: Int) {
        guard count > capacity else { return }
        let more = UnsafeMutablePointer<Candidate>.allocate(capacity: 2 * capacity)
        more.moveInitialize(from: candidates, count: capacity)
        candidates.deallocate()
        candidates = more
        // What it holds is of one group at a time.
        leasts.deallocate()
        leasts = .allocate(capacity: 2 * StripTree.fanout * capacity)
        capacity *= 2
    }

    /// The ball around a group.
    private struct Around {
        let center: SIMD3<Float>
        let radius: Float
        /// How far the line is from the centre at most.
        var most: Float

        /// Around the unit sphere.
        static let everything = Around(center: .zero, radius: 1.01, most: .infinity)

        init(center: SIMD3<Float>, radius: Float, most: Float) {
            (self.center, self.radius, self.most) = (center, radius, most)
        }

        init(_ balls: Balls, _ lane: Int, most: UnsafePointer<Float>) {
            self.init(
                center: SIMD3(balls.x[lane], balls.y[lane], balls.z[lane]),
                radius: balls.radii[lane], most: most[lane])
        }
    }
}

/// What a search tells about the balls of the group of a level that was asked about last.
extension CorridorSearch {
    /// About how much of a ball lies in the corridor, 0 through 1: as if the line ran straight.
    public func share(level: Int, ball: Int) -> Float {
        let (radius, width) = (levels[level + 1].balls.radii[ball], corridor.outside)
        let distance = max(0, bounds(level).least[ball])
        let covered = min(radius, distance + width) - max(-radius, distance - width)
        return min(max(0, covered / (2 * radius)), 1)
    }

    /// Whether a place is in the corridor, which lies in a ball of the lowest level.
    public func contains(_ position: Coordinate, in ball: Int) -> Bool {
        corridor.line.prepared.tree.withGroups { groups in
            corridor.contains(position, groups) { look(in: ball, &$0) }
        }
    }

    /// What a measure by the corridor's line gives for a place in the corridor, which lies in a ball
    /// of the lowest level; nil for another measure.
    public func distance(
        by measure: GeoMeasure, to position: Coordinate, in ball: Int
    ) -> Distance? {
        let measuresAlong: Bool
        switch measure {
        case .distanceFromLine(let line) where line.prepared === corridor.line.prepared:
            measuresAlong = false
        case .along(let line) where line.prepared === corridor.line.prepared:
            measuresAlong = true
        default: return nil
        }
        return corridor.line.prepared.tree.withGroups { groups in
            var search = NearestArc(
                corridor.line.prepared, groups, to: position, measuresAlong: measuresAlong)
            look(in: ball, &search)
            return search.nearest.map { measuresAlong ? $0.along : $0.distance }
        }
    }

    private func look(in ball: Int, _ search: inout NearestArc) {
        let level = levels[0]
        for number in level.first..<level.end
        where candidates[number].balls >> UInt16(ball) & 1 == 1 {
            search.look(
                at: candidates[number].strip, of: StripTree.Part(bits: candidates[number].part))
        }
    }
}
