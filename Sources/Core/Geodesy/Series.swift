/// What a series is summed in: a number, or several side by side.
protocol SeriesValue {
    init(repeating value: Double)
    static func + (a: Self, b: Self) -> Self
    static func - (a: Self, b: Self) -> Self
    static func * (a: Self, b: Self) -> Self
    func squareRoot() -> Self
}

extension Double: SeriesValue {
    init(repeating value: Double) { self = value }
}

extension SIMD8<Double>: SeriesValue {}

/// Functions of small angles by their Taylor series, within 1.3 units of the last place: less time
/// than a call of the C library takes, which has to reduce larger angles first. The first term left
/// out of each is below 3e-18 of the sum.
enum Series {
    /// The largest angle of `sine` and `cosine`: 45 degrees, in radians.
    static let bound = Double.pi / 4

    /// The largest argument of `arcSine`, the square of a sine.
    static let arcSineBound = 0x1p-8

    @inline(__always)
    static func sine<Value: SeriesValue>(_ x: Value) -> Value {
        let z = x * x
        return x + x * z
            * polynomial(
                z, -1.0 / 6, 1.0 / 120, -1.0 / 5_040, 1.0 / 362_880, -1.0 / 39_916_800,
                1.0 / 6_227_020_800, -1.0 / 1_307_674_368_000, 1.0 / 355_687_428_096_000)
    }

    @inline(__always)
    static func cosine<Value: SeriesValue>(_ x: Value) -> Value {
        let z = x * x
        return Value(repeating: 1) + z
            * polynomial(
                z, -0.5, 1.0 / 24, -1.0 / 720, 1.0 / 40_320, -1.0 / 3_628_800,
                1.0 / 479_001_600, -1.0 / 87_178_291_200, 1.0 / 20_922_789_888_000)
    }

    /// The angle whose sine is the square root of `z`.
    @inline(__always)
    static func arcSine<Value: SeriesValue>(ofRoot z: Value) -> Value {
        let x = z.squareRoot()
        return x + x * z
            * polynomial(
                z, 1.0 / 6, 3.0 / 40, 15.0 / 336, 105.0 / 3_456, 945.0 / 42_240,
                10_395.0 / 599_040, 135_135.0 / 9_676_800, 2_027_025.0 / 175_472_640)
    }

    /// A polynomial of the seventh degree, in pairs of terms: a shorter way than one by one.
    @inline(__always)
    private static func polynomial<Value: SeriesValue>(
        _ z: Value, _ c0: Double, _ c1: Double, _ c2: Double, _ c3: Double, _ c4: Double,
        _ c5: Double, _ c6: Double, _ c7: Double
    ) -> Value {
        let w = z * z
        func pair(_ low: Double, _ high: Double) -> Value {
            Value(repeating: low) + z * Value(repeating: high)
        }
        return pair(c0, c1) + w * (pair(c2, c3) + w * (pair(c4, c5) + w * pair(c6, c7)))
    }
}
