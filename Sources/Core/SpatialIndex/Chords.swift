import CLanes

/// Squared chords from a centre to the sixteen boxes of a group.
///
/// Inequality: with the limits of `ChordLimits`, for every point p below node i,
/// `nearest[i] <= chord²(center, p) <= farthest[i]`, up to the rounding those limits allow for.
struct NodeChords {
    private(set) var nearest = SIMD16<Float>()
    private(set) var farthest = SIMD16<Float>()

    @inline(__always)
    init(_ group: UnsafeMutableRawPointer, center: FloatVector) {
        nearest.withNumbers { nearest in
            farthest.withNumbers { gb_box_chords(group.boxes, center, nearest, $0) }
        }
    }
}

/// Squared chords from a centre to the sixteen points of a leaf.
@inline(__always)
func squaredChords(_ leaf: UnsafeMutableRawPointer, center: FloatVector) -> SIMD16<Float> {
    var chords = SIMD16<Float>()
    chords.withNumbers { gb_point_chords(leaf.points, center, $0) }
    return chords
}

extension SIMD16<Float> {
    @inline(__always)
    fileprivate mutating func withNumbers(_ body: (UnsafeMutablePointer<Float>) -> Void) {
        withUnsafeMutableBytes(of: &self) {
            body($0.baseAddress!.assumingMemoryBound(to: Float.self))
        }
    }
}

extension UnsafeMutableRawPointer {
    /// The columns of unit vectors of a group.
    @inline(__always)
    var boxes: UnsafePointer<Float> { columns(TierLayout.Group.lowX) }

    /// The columns of unit vectors of a leaf.
    @inline(__always)
    var points: UnsafePointer<Float> { columns(TierLayout.Leaf.x) }

    @inline(__always)
    private func columns(_ offset: Int) -> UnsafePointer<Float> {
        UnsafeRawPointer(self + offset).assumingMemoryBound(to: Float.self)
    }
}
