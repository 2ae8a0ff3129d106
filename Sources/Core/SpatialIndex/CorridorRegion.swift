import Geodesy

/// The points in a corridor.
///
/// Sixteen boxes or points are tested together, as balls, in single precision. First one search of
/// the line finds the arcs that may matter to any of them. Only where these are many, each ball is a
/// search of its own.
struct CorridorRegion: MeasurableRegion {
    private let corridor: GeoCorridor

    /// About as many arcs as cost as much as sixteen searches.
    private static let mostArcs = 48

    init(_ corridor: GeoCorridor) { self.corridor = corridor }

    func nodes(_ group: UnsafeMutableRawPointer) -> Lanes { lanes(Balls(group: group)) }

    func points(_ leaf: UnsafeMutableRawPointer) -> Lanes { lanes(Balls(leaf: leaf)) }

    func contains(latitude: Double, longitude: Double) -> Bool {
        corridor.contains(Coordinate(latitude: latitude, longitude: longitude))
    }

    func classify(_ entry: Entry) -> Lanes {
        let vector = entry.vector
        let overlap = corridor.overlap(
            center: SIMD3(Double(vector.x), Double(vector.y), Double(vector.z)),
            radius: FloatVector.error)
        return Lanes(touched: overlap == .none ? 0 : 1, inside: overlap == .whole ? 1 : 0)
    }

    func shares(_ group: UnsafeMutableRawPointer) -> SIMD16<Float> {
        let balls = Balls(group: group)
        var shares = SIMD16<Float>()
        for lane in 0..<TierLayout.fanout {
            let (center, radius) = balls[lane]
            shares[lane] = Float(corridor.share(center: center, radius: radius))
        }
        return shares
    }

    private func lanes(_ balls: Balls) -> Lanes {
        withUnsafeTemporaryAllocation(of: SingleArc.self, capacity: Self.mostArcs) { arcs in
            let (center, radius) = balls.union
            guard let count = corridor.collectArcs(center: center, radius: radius, into: arcs)
            else { return oneByOne(balls) }
            let limits = corridor.singleLimits(radii: balls.radii)
            var least = SIMD16<Float>(repeating: .infinity)
            for arc in arcs[..<count] where any(least .> limits.inside) {
                let chords = arc.squaredChords(balls.x, balls.y, balls.z)
                least = least.replacing(with: chords, where: chords .< least)
            }
            return Lanes(
                touched: (least .<= limits.outside).bits, inside: (least .<= limits.inside).bits)
        }
    }

    private func oneByOne(_ balls: Balls) -> Lanes {
        var lanes = Lanes(touched: 0, inside: 0)
        for lane in 0..<TierLayout.fanout {
            let (center, radius) = balls[lane]
            let overlap = corridor.overlap(center: center, radius: radius)
            if overlap != .none { lanes.touched |= 1 << UInt16(lane) }
            if overlap == .whole { lanes.inside |= 1 << UInt16(lane) }
        }
        return lanes
    }
}

/// Sixteen balls in space, around what is to be found. Lanes that are not in use hold anything; a
/// ball that cannot be one gives way to the first, which is always in use.
private struct Balls {
    let x, y, z, radii: SIMD16<Float>

    /// Holds the error of the centre and of the radius, each computed in single precision.
    private static let slack: Float = 5e-7

    /// Around the boxes of unit vectors of a group.
    init(group: UnsafeMutableRawPointer) {
        typealias Group = TierLayout.Group
        func axis(_ low: Int, _ high: Int) -> (middle: SIMD16<Float>, half: SIMD16<Float>) {
            let (low, high) = (group.floats(low), group.floats(high))
            return ((low + high) * 0.5, (high - low) * 0.5)
        }
        let (x, y, z) = (
            axis(Group.lowX, Group.highX), axis(Group.lowY, Group.highY),
            axis(Group.lowZ, Group.highZ)
        )
        let squared = x.half * x.half + y.half * y.half + z.half * z.half
        self.init(
            x.middle, y.middle, z.middle,
            radii: squared.squareRoot() * (1 + Self.slack) + Self.slack)
    }

    /// Around the exact unit vectors of the points of a leaf.
    init(leaf: UnsafeMutableRawPointer) {
        typealias Columns = TierLayout.Leaf
        self.init(
            leaf.floats(Columns.x), leaf.floats(Columns.y), leaf.floats(Columns.z),
            radii: SIMD16(repeating: Float(FloatVector.error).nextUp))
    }

    private init(
        _ x: SIMD16<Float>, _ y: SIMD16<Float>, _ z: SIMD16<Float>, radii: SIMD16<Float>
    ) {
        // The middle of a box of unit vectors is (m + M) / 2, say from m >= 0 to M on each axis, and
        // M² is at most 1 less the other m². So its square is at most 1.5. False for NaN.
        let isBall = (x * x + y * y + z * z .<= 1.6) .& (radii .<= 2)
        func used(_ values: SIMD16<Float>) -> SIMD16<Float> {
            SIMD16(repeating: values[0]).replacing(with: values, where: isBall)
        }
        (self.x, self.y, self.z, self.radii) = (used(x), used(y), used(z), used(radii))
    }

    subscript(lane: Int) -> (center: SIMD3<Double>, radius: Double) {
        (SIMD3(Double(x[lane]), Double(y[lane]), Double(z[lane])), Double(radii[lane]))
    }

    /// A ball that holds all of them.
    var union: (center: SIMD3<Double>, radius: Double) {
        func axis(_ values: SIMD16<Float>) -> (middle: Double, half: Double) {
            let (low, high) = (Double((values - radii).min()), Double((values + radii).max()))
            return ((low + high) / 2, (high - low) / 2 + Double(Self.slack))
        }
        let (x, y, z) = (axis(x), axis(y), axis(z))
        return (
            SIMD3(x.middle, y.middle, z.middle),
            (x.half * x.half + y.half * y.half + z.half * z.half).squareRoot()
        )
    }
}
