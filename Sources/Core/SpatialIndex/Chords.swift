/// Squared chords from a centre to the sixteen boxes of a group.
///
/// Inequality: with the limits of `ChordLimits`, for every point p below node i,
/// `nearest[i] <= chord²(center, p) <= farthest[i]`, up to the rounding those limits allow for.
struct NodeChords {
    let nearest: SIMD16<Float>
    let farthest: SIMD16<Float>

    @inline(__always)
    init(_ group: UnsafeMutableRawPointer, center: FloatVector) {
        typealias Group = TierLayout.Group
        let x = Self.axis(group, Group.lowX, Group.highX, center.x)
        let y = Self.axis(group, Group.lowY, Group.highY, center.y)
        let z = Self.axis(group, Group.lowZ, Group.highZ, center.z)
        nearest = x.near * x.near + y.near * y.near + z.near * z.near
        farthest = x.far * x.far + y.far * y.far + z.far * z.far
    }

    // The distance along one axis from the coordinate to the interval, and to the interval's
    // farther end.
    @inline(__always)
    private static func axis(
        _ group: UnsafeMutableRawPointer, _ low: Int, _ high: Int, _ center: Float
    ) -> (near: SIMD16<Float>, far: SIMD16<Float>) {
        let below = group.floats(low) - center
        let above = center - group.floats(high)
        let zero = SIMD16<Float>(repeating: 0)
        let near = larger(larger(below, above), zero)
        let far = larger(-below, -above)
        return (near, far)
    }

    @inline(__always)
    private static func larger(_ a: SIMD16<Float>, _ b: SIMD16<Float>) -> SIMD16<Float> {
        a.replacing(with: b, where: b .> a)
    }
}

/// Squared chords from a centre to the sixteen points of a leaf.
@inline(__always)
func squaredChords(_ leaf: UnsafeMutableRawPointer, center: FloatVector) -> SIMD16<Float> {
    let dx = leaf.floats(TierLayout.Leaf.x) - center.x
    let dy = leaf.floats(TierLayout.Leaf.y) - center.y
    let dz = leaf.floats(TierLayout.Leaf.z) - center.z
    return dx * dx + dy * dy + dz * dz
}
