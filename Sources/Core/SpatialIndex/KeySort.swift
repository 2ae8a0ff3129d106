/// Sorting of 64-bit keys.
enum KeySort {
    /// Sorts the keys by their bits from `lowBit` up; a radix sort, 11 bits a pass.
    ///
    /// - Complexity: O(n) time and as much scratch memory as there are keys.
    static func sort(_ keys: UnsafeMutableBufferPointer<UInt64>, fromBit lowBit: Int) {
        if keys.count < 1024 {
            var mutable = keys
            mutable.sort()
            return
        }
        let scratch = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: keys.count)
        defer { scratch.deallocate() }
        var source = keys
        var target = scratch
        var shift = lowBit
        while shift < 64 {
            scatter(from: source, to: target, shift: UInt64(shift))
            swap(&source, &target)
            shift += digitBits
        }
        if source.baseAddress != keys.baseAddress {
            _ = keys.update(fromContentsOf: source)
        }
    }

    private static let digitBits = 11

    private static func scatter(
        from source: UnsafeMutableBufferPointer<UInt64>,
        to target: UnsafeMutableBufferPointer<UInt64>, shift: UInt64
    ) {
        let mask: UInt64 = (1 << UInt64(digitBits)) - 1
        withUnsafeTemporaryAllocation(of: Int.self, capacity: 1 << digitBits) { starts in
            starts.initialize(repeating: 0)
            for key in source { starts[Int((key >> shift) & mask)] += 1 }
            var start = 0
            for digit in starts.indices {
                let length = starts[digit]
                starts[digit] = start
                start += length
            }
            for key in source {
                let digit = Int((key >> shift) & mask)
                target[starts[digit]] = key
                starts[digit] += 1
            }
        }
    }
}
