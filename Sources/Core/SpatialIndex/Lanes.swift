import CLanes

/// The classification of the sixteen boxes of a group, or the points of a leaf, by a region: one
/// bit for each. `touched` are the lanes that may be in the region, at least in part; `inside`, a
/// subset, those that certainly and wholly are.
typealias Lanes = gb_lanes

extension Lanes {
    /// Clears the lanes from `count` on.
    func first(_ count: Int) -> Lanes {
        let mask = UInt16(truncatingIfNeeded: (1 << count) - 1)
        return Lanes(touched: touched & mask, inside: inside & mask)
    }
}

extension SIMDMask where Storage == SIMD16<Int32> {
    /// Bit i is lane i.
    @inline(__always)
    var bits: UInt16 {
        let weights = SIMD16<Int32>(
            1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
        let chosen = SIMD16<Int32>(repeating: 0).replacing(with: weights, where: self)
        return UInt16(truncatingIfNeeded: chosen.wrappedSum())
    }
}

extension SIMDMask where Storage == SIMD8<Int64> {
    /// Bit i is lane i.
    @inline(__always)
    var bits: UInt16 {
        let weights = SIMD8<Int64>(1, 2, 4, 8, 16, 32, 64, 128)
        let chosen = SIMD8<Int64>(repeating: 0).replacing(with: weights, where: self)
        return UInt16(truncatingIfNeeded: chosen.wrappedSum())
    }
}

extension UnsafeMutableRawPointer {
    /// Sixteen floats of a column.
    @inline(__always)
    func floats(_ offset: Int) -> SIMD16<Float> {
        load(fromByteOffset: offset, as: SIMD16<Float>.self)
    }

    /// Eight doubles of a column.
    @inline(__always)
    func doubles(_ offset: Int) -> SIMD8<Double> {
        load(fromByteOffset: offset, as: SIMD8<Double>.self)
    }
}
