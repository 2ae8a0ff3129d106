import Geodesy

/// A region of the earth that a tree can be searched for.
protocol Region {
    /// Classifies the boxes of a group of nodes.
    ///
    /// A search of a tree asks about groups and leaves depth first.
    func nodes(_ group: UnsafeMutableRawPointer, _ place: TreePlace) -> Lanes

    /// Classifies the points of a leaf.
    func points(_ leaf: UnsafeMutableRawPointer, _ place: TreePlace) -> Lanes

    /// Whether the point is in the region, by the exact test.
    func contains(_ position: Coordinate) -> Bool

    /// The same of a point of the leaf that was classified last.
    func contains(_ position: Coordinate, lane: Int) -> Bool

    /// The region for a search that needs the distances of the points it finds.
    func measuring(_ measure: GeoMeasure) -> Self

    /// The distance, by that measure, of a point in the region and in the leaf classified last.
    func distance(by measure: GeoMeasure, to position: Coordinate, lane: Int) -> Distance

    /// Classifies a point outside the trees. `contains` decides for points that are touched but not
    /// inside.
    func classify(_ entry: Entry) -> Lanes

    /// The approximate number of points of an index in the region, at least 0.
    func estimate(in index: PointIndex) -> Int
}

extension Region {
    @inline(__always)
    func contains(_ position: Coordinate, lane: Int) -> Bool { contains(position) }

    @inline(__always)
    func measuring(_ measure: GeoMeasure) -> Self { self }

    @inline(__always)
    func distance(by measure: GeoMeasure, to position: Coordinate, lane: Int) -> Distance {
        measure.distance(to: position)
    }
}

/// Where a group or a leaf is in a tree.
struct TreePlace {
    /// -1 for a leaf.
    let level: Int
    /// The lane in the group above; nil for the root.
    let lane: Int?
}

/// A region whose share of a node is cheap to estimate.
protocol MeasurableRegion: Region {
    /// The estimated fraction of each touched node's points that lie in the region, 0…1.
    /// They were classified, and groups below perhaps too since.
    func shares(_ group: UnsafeMutableRawPointer, _ place: TreePlace) -> SIMD16<Float>
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
