import CLanes

/// A straight segment in space and how far a part of a line on the unit sphere strays from it, in
/// single precision.
///
/// Inequality: every place of the part is within `stray` of the segment, and every place of the
/// segment within `stray` of the part. So the distances of any point to the two differ by at most
/// `stray`.
///
/// Proof of the second half: the part leads from one end of the segment to the other, so it crosses
/// the plane at right angles to the segment through any place of it. That place is the nearest of
/// the segment to where the part crosses.
///
/// - Reference: Ballard, "Strip Trees: A Hierarchical Representation for Curves", CACM 24(5), 1981.
typealias Strip = gb_strip

extension Strip {
    /// A distance is computed within this share of it, and within `stray` besides.
    ///
    /// Proof: let u be 2^-24. The differences of the numbers are within u of themselves, the product
    /// along the segment within 4u of the point's distance from the middle, the rest of each number
    /// within 8u of it and the root within 3u of itself: less than 16u, or 1e-6, of the distance
    /// from the middle. That is at most half the segment and the distance.
    static let relativeError = GB_STRIP_ERROR

    /// What rounding adds to `stray`: the middle is within 5.2e-8, the direction and the half length
    /// within 1.2e-7 of the half length, to which the share above comes. The last makes good for the
    /// vectors, and for places that are equally near (`GeoLine.chordSlack`).
    private static func rounding(half: Double) -> Double { 5.2e-8 + 2e-6 * half + 1e-9 }

    /// The strip of a part of a line from one point to another that strays so far.
    init(_ segment: Segment, stray: Double) {
        let (middle, ahead) = (segment.middle, segment.ahead)
        self.init(
            x: Float(middle.x), y: Float(middle.y), z: Float(middle.z), aheadX: Float(ahead.x),
            aheadY: Float(ahead.y), aheadZ: Float(ahead.z), half: Float(segment.half),
            stray: Float(stray + Self.rounding(half: segment.half)).nextUp)
    }

    /// A strip so far away that it is no candidate of anything.
    static var none: Strip {
        Strip(x: 100, y: 0, z: 0, aheadX: 0, aheadY: 0, aheadZ: 0, half: 0, stray: 0)
    }

    /// The distance in space of a point.
    @inline(__always)
    func distance(_ point: SIMD3<Float>) -> Float {
        let (dx, dy, dz) = (point.x - x, point.y - y, point.z - z)
        let ahead = min(max(dx * aheadX + dy * aheadY + dz * aheadZ, -half), half)
        let (x, y, z) = (dx - ahead * aheadX, dy - ahead * aheadY, dz - ahead * aheadZ)
        return (x * x + y * y + z * z).squareRoot()
    }
}

/// Sixteen strips side by side.
typealias StripGroup = gb_strip_group

extension UnsafePointer<StripGroup> {
    /// The strip of a lane.
    @inline(__always)
    subscript(lane lane: Int) -> Strip {
        let numbers = UnsafeRawPointer(self).assumingMemoryBound(to: Float.self) + lane
        return Strip(
            x: numbers[0], y: numbers[16], z: numbers[32], aheadX: numbers[48],
            aheadY: numbers[64], aheadZ: numbers[80], half: numbers[96], stray: numbers[112])
    }
}

extension UnsafeMutablePointer<StripGroup> {
    func set(_ lane: Int, _ strip: Strip) {
        let numbers = UnsafeMutableRawPointer(self).assumingMemoryBound(to: Float.self) + lane
        (numbers[0], numbers[16], numbers[32]) = (strip.x, strip.y, strip.z)
        (numbers[48], numbers[64], numbers[80]) = (strip.aheadX, strip.aheadY, strip.aheadZ)
        (numbers[96], numbers[112]) = (strip.half, strip.stray)
    }
}

/// A straight segment in space.
struct Segment {
    let middle: SIMD3<Double>
    /// The direction, of length 1 or 0.
    let ahead: SIMD3<Double>
    let half: Double

    init(_ a: SIMD3<Double>, _ b: SIMD3<Double>) {
        middle = (a + b) * 0.5
        let way = b - a
        let length = way.length
        half = length / 2
        ahead = length > 0 ? way / length : .zero
    }

    func distance(to point: SIMD3<Double>) -> Double {
        let way = point - middle
        let along = min(max(way.dot(ahead), -half), half)
        return (way - ahead * along).length
    }

    /// How far the shorter great-circle arc between the ends strays, if they are on the unit sphere.
    var sagitta: Double { half * half / (1 + max(0, 1 - half * half).squareRoot()) }
}
