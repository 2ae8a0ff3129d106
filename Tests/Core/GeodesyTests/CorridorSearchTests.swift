import Foundation
import TestSupport
import Testing

@testable import Geodesy

@Suite struct CorridorSearchTests {
    private static let starts: [(latitude: Double, longitude: Double)] = [
        (90, 0), (-90, 77), (89.99999, 12), (0, 180), (0, -180), (12, 179.9999), (0, 0),
        (35.6, 139.7), (-45, -70), (60, 10),
    ]

    private static func line(_ random: inout SplitMix64) throws -> GeoLine {
        let around = (0..<3).map { _ in random.pick(starts) }
        let generator = LineGenerator(positions: around)
        let positions = random.oneIn(3) ? generator.longLine(&random) : generator.line(&random)
        return try GeoLine(
            positions.map { Coordinate(latitude: $0.latitude, longitude: $0.longitude) })
    }

    /// The arcs of a line, by `GreatCircleArc` alone.
    private static func arcs(_ line: GeoLine) -> [GreatCircleArc] {
        zip(line.positions, line.positions.dropFirst()).map { GreatCircleArc($0, $1)! }
    }

    private static func chord(_ arcs: [GreatCircleArc], _ point: SIMD3<Double>) -> Double {
        arcs.map { $0.squaredChord(to: point) }.min()!.squareRoot()
    }

    /// A place of an arc, from its beginning at 0 to its end at 1.
    private static func place(_ arc: GreatCircleArc, _ share: Double) -> SIMD3<Double> {
        arc.place(2 * Sphere.angle(sine: arc.sine, cosine: arc.cosine) * (share - 0.5))
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a line strays from the segment of each strip by no more than the strip says`(
        seed: UInt64
    ) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<60 {
            let line = try Self.line(&random)
            let (arcs, tree) = (Self.arcs(line), line.prepared.tree)
            tree.withGroups { groups in
                for group in 0...groups.root {
                    for lane in 0..<StripTree.fanout {
                        let strip = groups[group][lane: lane]
                        guard strip.x < 50 else { continue }
                        let range = Self.arcs(of: groups.part(group, lane), groups, tree)
                        Self.check(strip, arcs[range], &random, "seed \(seed)")
                    }
                }
            }
        }
    }

    /// The arcs that a part has to do with.
    private static func arcs(
        of part: StripTree.Part, _ groups: StripGroups, _ tree: StripTree
    ) -> ClosedRange<Int> {
        guard !part.isPiece else { return tree.arc(part.piece)...tree.arc(part.piece) }
        let lanes = (0..<StripTree.fanout).filter { groups[part.group][lane: $0].x < 50 }
        let first = arcs(of: groups.part(part.group, lanes.first!), groups, tree)
        let last = arcs(of: groups.part(part.group, lanes.last!), groups, tree)
        return first.lowerBound...last.upperBound
    }

    private static func check(
        _ strip: Strip, _ arcs: ArraySlice<GreatCircleArc>, _ random: inout SplitMix64,
        _ context: String
    ) {
        let middle = SIMD3(Double(strip.x), Double(strip.y), Double(strip.z))
        let ahead = SIMD3(Double(strip.aheadX), Double(strip.aheadY), Double(strip.aheadZ))
        let (half, stray) = (Double(strip.half), Double(strip.stray))
        let segment = Segment(middle - ahead * half, middle + ahead * half)
        // Of a long arc a strip may have one piece only: then its other places are no matter.
        let isWhole = arcs.allSatisfy { $0.sine < 1.0 / 600 }
        for _ in 0..<8 where isWhole {
            let place = place(random.pick(Array(arcs)), random.number(0...1))
            #expect(segment.distance(to: place) <= stray, "\(context)")
        }
        for share in [-1, 1, random.number(-1...1), random.number(-1...1)] {
            let place = middle + ahead * half * share
            #expect(chord(Array(arcs), place) <= stray, "\(context), \(half), \(stray)")
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `what lies in a ball is as the search says of the ball`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var (inside, outside) = (0, 0)
        for _ in 0..<60 {
            let line = try Self.line(&random)
            let arcs = Self.arcs(line)
            let width = pow(10, random.number(-6...6))
            let corridor = GeoCorridor(line, widthMeters: width)
            let search = CorridorSearch(corridor)
            let around = random.pick(line.positions)
            let chord = 2 * sin(width / (2 * Sphere.radiusMeters))
            // Balls of three levels, each in one of those above.
            var parent = (
                center: Sphere.unitVector(around),
                radius: min(1.5, chord * pow(10, random.number(-1...2)) + 1e-6)
            )
            for level in [1, 0, -1] {
                var balls: [(center: SIMD3<Double>, radius: Double)] = []
                for _ in 0..<16 {
                    let radius = level < 0 ? 0 : parent.radius * random.number(0.01...0.5)
                    let way = Self.direction(&random) * (parent.radius - radius)
                    balls.append((parent.center + way * random.number(0...1), radius))
                }
                let room = search.room(level: level)
                for (lane, ball) in balls.enumerated() {
                    room[lane] = Float(ball.center.x)
                    room[16 + lane] = Float(ball.center.y)
                    room[32 + lane] = Float(ball.center.z)
                    room[48 + lane] = Float(ball.radius + 4e-7)
                }
                let overlap = search.overlap(
                    of: CorridorSearch.Balls(
                        x: room, y: room + 16, z: room + 32, radii: room + 48),
                    level: level, in: level == 1 ? nil : 3)
                for (lane, ball) in balls.enumerated() {
                    let isTouched = overlap.touched >> UInt16(lane) & 1 == 1
                    let isInside = overlap.inside >> UInt16(lane) & 1 == 1
                    let context = "seed \(seed), level \(level), \(ball), \(width) m"
                    #expect(isTouched || !isInside, "\(context)")
                    for _ in 0..<3 {
                        let way = Self.direction(&random) * (ball.radius * random.number(0...1))
                        let exact = Self.chord(arcs, ball.center + way)
                        if isInside { #expect(exact <= chord + 1e-12, "\(context)") }
                        if !isTouched { #expect(exact >= chord - 1e-12, "\(context)") }
                    }
                    (inside, outside) = (inside + (isInside ? 1 : 0), outside + (isTouched ? 0 : 1))
                }
                parent = (balls[3].center, balls[3].radius)
            }
        }
        #expect(inside > 100 && outside > 100, "\(inside), \(outside)")
    }

    private static func direction(_ random: inout SplitMix64) -> SIMD3<Double> {
        while true {
            let way = SIMD3(
                random.number(-1...1), random.number(-1...1), random.number(-1...1))
            if way.length > 0.01 && way.length <= 1 { return way / way.length }
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `positions become unit vectors eight at a time as one by one`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var positions = Self.starts.map {
            Coordinate(latitude: $0.latitude, longitude: $0.longitude)
        }
        for _ in 0..<1_000 {
            positions.append(
                Coordinate(
                    latitude: random.pick([random.number(-90...90), -45, 45, 90, -90, 1e-9]),
                    longitude: random.pick([
                        random.number(-180...180), -180, -135, -90, -45, 0, 45, 90, 135, 180,
                    ])))
        }
        for (position, vector) in zip(positions, Sphere.unitVectors(positions)) {
            let way = vector - Sphere.unitVector(position)
            #expect(way.length < 3e-16, "seed \(seed), \(position): \(way.length)")
        }
    }
}
