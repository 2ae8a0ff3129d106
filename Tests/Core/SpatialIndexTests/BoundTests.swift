import Geodesy
import PersistentStructures
import TestSupport
import Testing

@testable import SpatialIndex

@Suite struct BoundTests {
    @Test(arguments: PointDistribution.allCases, DistanceModel.allCases)
    func `a chord within the inner limit is within the radius, one beyond the outer is not`(
        positions: PointDistribution, model: DistanceModel
    ) {
        for seed in UInt64(1)...4 {
            var random = SplitMix64(seed: seed)
            for _ in 0..<2000 {
                let center = positions.position(&random)
                let position = positions.position(&random)
                let radius = positions.radiusMeters(around: center, model, &random)
                let limits = ChordLimits(radiusMeters: radius, model: model)
                let chord = FloatVector(Sphere.unitVector(position))
                    .squaredChord(to: FloatVector(Sphere.unitVector(center)))
                let isWithin = model.distance(center, position).isWithin(radiusMeters: radius)
                let context = "seed \(seed), \(radius) m, \(center) to \(position)"
                if chord <= limits.inside { #expect(isWithin, "\(context)") }
                if chord > limits.outside { #expect(!isWithin, "\(context)") }
                #expect(limits.inside <= limits.outside, "\(context)")
            }
        }
    }

    @Test(arguments: PointDistribution.allCases)
    func `no point below a node is nearer than its bound or farther than its far corner`(
        positions: PointDistribution
    ) {
        for seed in UInt64(1)...3 {
            var random = SplitMix64(seed: seed)
            let points = (0..<256).map { (slot: Slot($0), coordinate: positions.position(&random)) }
            let tree = PointIndex(bulk: points).tiers[0].tier
            for _ in 0..<10 {
                let center =
                    random.below(2) == 0 ? positions.position(&random) : points[0].1.antipode
                checkBounds(tree, center, "seed \(seed), \(positions), \(center)")
            }
        }
    }

    // The bounds hold up to what the limits of a radius at the point's own distance allow for.
    private func checkBounds(_ tier: Tier, _ center: Coordinate, _ context: String) {
        let vector = FloatVector(Sphere.unitVector(center))
        let tree = tier.tree
        let chords = NodeChords(tree.group(0, level: 0), center: vector)
        for number in 0..<tree.leafCount {
            let box = NodeBox(group: tree.group(0, level: 0), lane: number)
            let scalar = box.squaredChords(from: vector)
            #expect(abs(scalar.nearest - chords.nearest[number]) <= 1e-6, "\(context)")
            #expect(abs(scalar.farthest - chords.farthest[number]) <= 1e-6, "\(context)")
            for lane in 0..<tree.entryCount(ofLeaf: number) {
                let position = Leaf(base: tree.leaf(number)).entry(lane).coordinate
                let meters = Sphere.distance(center, position).meters
                let limits = ChordLimits(radiusMeters: meters, model: .sphere)
                #expect(chords.nearest[number] <= limits.outside, "\(context), \(position)")
                let less = ChordLimits.inside(radiusMeters: meters - 1e-6, .sphere)
                #expect(chords.farthest[number] > less, "\(context), \(position)")
            }
        }
    }

    @Test func `the distance to the clamped point would be no bound`() {
        // Seen from 80 north, the nearest point of the box 0…60 north, 90…91 east is not its corner
        // at the same clamped latitude: the great circle runs over higher latitudes.
        let center = Coordinate(latitude: 80, longitude: -89)
        let clamped = Coordinate(latitude: 60, longitude: -89)
        let corner = Coordinate(latitude: 60, longitude: 91)
        #expect(Sphere.meters(clamped, corner) > Sphere.meters(center, corner))
        let points = (0..<64).map {
            (slot: Slot($0), coordinate: Coordinate(latitude: Double($0) * 60 / 63, longitude: 91))
        }
        var walk = PointIndex(bulk: points).nearest(by: GeoCircle(center).distance)
        let first = walk.next()
        #expect(first?.slot == 63)
    }

    @Test func `rounding to float goes outward`() {
        var random = SplitMix64(seed: 5)
        for _ in 0..<1000 {
            let value = random.number(-180...180)
            #expect(Double(Float.roundedDown(value)) <= value)
            #expect(Double(Float.roundedUp(value)) >= value)
        }
        #expect(Float.roundedDown(-180) == -180 && Float.roundedUp(180) == 180)
    }
}

@Suite struct PackingTests {
    @Test func `neighbours on the Hilbert curve are neighbours in the square`() {
        let bits = 4
        var cells: [UInt64: (Int, Int)] = [:]
        for x in 0..<16 {
            for y in 0..<16 {
                cells[HilbertCurve.index(x: UInt32(x), y: UInt32(y), bits: bits)] = (x, y)
            }
        }
        #expect(cells.count == 256)
        for position in UInt64(1)..<256 {
            guard let here = cells[position], let before = cells[position - 1] else {
                Issue.record("no cell at \(position)")
                continue
            }
            #expect(abs(here.0 - before.0) + abs(here.1 - before.1) == 1, "at \(position)")
        }
    }

    @Test func `a square of fewer cells orders places in the same way`() {
        var random = SplitMix64(seed: 6)
        for _ in 0..<1000 {
            let (x, y) = (UInt32(random.below(1 << 22)), UInt32(random.below(1 << 22)))
            let fine = HilbertCurve.index(x: x, y: y, bits: 22)
            for bits in 1..<22 {
                let shift = UInt32(22 - bits)
                let coarse = HilbertCurve.index(x: x >> shift, y: y >> shift, bits: bits)
                #expect(coarse == fine >> UInt64(2 * shift), "\(x), \(y) with \(bits) bits")
            }
        }
    }
}

extension NodeBox {
    /// Squared chords to the nearest and to the farthest corner, one box at a time.
    func squaredChords(from center: FloatVector) -> (nearest: Float, farthest: Float) {
        func axis(_ low: Float, _ high: Float, _ position: Float) -> (near: Float, far: Float) {
            (max(low - position, position - high, 0), max(position - low, high - position))
        }
        let x = axis(lowX, highX, center.x)
        let y = axis(lowY, highY, center.y)
        let z = axis(lowZ, highZ, center.z)
        return (
            x.near * x.near + y.near * y.near + z.near * z.near,
            x.far * x.far + y.far * y.far + z.far * z.far
        )
    }
}
