/// A region of the earth that a tree can be searched for.
protocol Region {
    /// Classifies the boxes of a group of nodes.
    func nodes(_ group: UnsafeMutableRawPointer) -> Lanes

    /// Classifies the points of a leaf.
    func points(_ leaf: UnsafeMutableRawPointer) -> Lanes

    /// Whether the point is in the region, by the exact test.
    func contains(latitude: Double, longitude: Double) -> Bool

    /// Classifies a point outside the trees. `contains` decides for points that are touched but not
    /// inside.
    func classify(_ entry: Entry) -> Lanes

    /// The approximate number of points of an index in the region, at least 0.
    func estimate(in index: PointIndex) -> Int
}

/// A region whose share of a node is cheap to estimate.
protocol MeasurableRegion: Region {
    /// The estimated fraction of each touched node's points that lie in the region, 0…1.
    func shares(_ group: UnsafeMutableRawPointer) -> SIMD16<Float>
}

extension MeasurableRegion {
    func estimate(in index: PointIndex) -> Int { index.estimate(by: self) }
}

/// The ratios of parts to wholes, clamped to 0…1. A whole of length 0 is either entirely inside or
/// entirely outside.
@inline(__always)
func share(_ part: SIMD16<Float>, of whole: SIMD16<Float>) -> SIMD16<Float> {
    let share = part / whole
    let atMostOne = SIMD16<Float>(repeating: 1).replacing(with: share, where: share .< 1)
    return atMostOne.replacing(with: 0, where: atMostOne .< 0)
}
