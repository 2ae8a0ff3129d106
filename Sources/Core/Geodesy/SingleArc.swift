/// A great-circle arc in single precision: the distances of sixteen points at once, roughly.
///
/// Inequality: a distance is within `error` of that of the point with the numbers given, if this
/// lies within 1.3 of the centre of the unit sphere; so is it compared with a rounded limit.
///
/// Proof: the numbers of the frame are rounded by at most 2^-25, sums of three products by at most
/// 3 * 2^-24 more, so each of x, y and z is within 3e-7. The distance changes by at most the sum of
/// these changes. Where an error takes an end for the foot, or the foot for an end, both are within
/// 1e-6 of each other as seen from the centre, and a circle's distances to them differ by less than
/// the square of that. The squares and the root are off by 2e-7 of a distance of at most 2.3,
/// a limit by 1e-7 of as much.
public struct SingleArc: BitwiseCopyable, Sendable {
    private let middle, forward, normal: (x: Float, y: Float, z: Float)
    private let sine, cosine: Float

    /// A bound of the error of a distance.
    static let error: Float = 2e-6

    init(_ arc: GreatCircleArc) {
        func single(_ vector: SIMD3<Double>) -> (x: Float, y: Float, z: Float) {
            (Float(vector.x), Float(vector.y), Float(vector.z))
        }
        middle = single(arc.middle)
        forward = single(arc.forward)
        normal = single(arc.normal)
        sine = Float(arc.sine)
        cosine = Float(arc.cosine)
    }

    /// The squared distances in space from points to the nearest places of the arc.
    public func squaredChords(
        _ x: SIMD16<Float>, _ y: SIMD16<Float>, _ z: SIMD16<Float>
    ) -> SIMD16<Float> {
        @inline(__always)
        func along(_ axis: (x: Float, y: Float, z: Float)) -> SIMD16<Float> {
            x * axis.x + y * axis.y + z * axis.z
        }
        let (up, ahead, beside) = (along(middle), along(forward), along(normal))
        let forth = ahead.replacing(with: -ahead, where: ahead .< 0)
        let (fromEnd, pastEnd) = (up - cosine, forth - sine)
        let toEnd = fromEnd * fromEnd + pastEnd * pastEnd
        let fromCircle = 1 - (up * up + forth * forth).squareRoot()
        let isBetween = forth * cosine .< up * sine
        return beside * beside
            + toEnd.replacing(with: fromCircle * fromCircle, where: isBetween)
    }
}
