import PersistentStructures
import TestSupport
import Testing

@Suite struct SortingTests {
    private struct Entry: BitwiseCopyable, Equatable {
        let key: UInt64
        let number: Int
    }

    /// Around the counts below which elements are compared, and with up to four digits.
    @Test(
        arguments: [0, 1, 31, 32, 33, 500, 511, 512, 1_500, 5_000],
        [1, 2, 100, 1 << 21, 1 << 40, .max] as [UInt64])
    func `a radix sort is the sort of the standard library`(count: Int, keys: UInt64) {
        for digitBits in [7, 11] as [UInt64] {
            var random = SplitMix64(seed: UInt64(count) &+ keys)
            var entries = (0..<count).map { Entry(key: random.next() % keys, number: $0) }
            let sorted = entries.sorted { ($0.key, $0.number) < ($1.key, $1.number) }
            entries.withUnsafeMutableBufferPointer {
                $0.radixSort(digitBits: digitBits) { $0.key }
            }
            #expect(entries.map(\.key) == sorted.map(\.key))
            // Those that are not compared stay as they came where they are equal.
            if count >= 1 << (digitBits - 2) { #expect(entries == sorted) }
        }
    }

    @Test(arguments: [40, 600, 3_000], [1, 20, 43] as [UInt64])
    func `bits that ascend already need no pass`(count: Int, lowBit: UInt64) {
        var random = SplitMix64(seed: UInt64(count) + lowBit)
        // As many as the low bits tell apart.
        let count = min(count, 1 << Int(min(lowBit, 20)))
        var keys = (0..<UInt64(count)).map { random.next() & ~(1 << lowBit - 1) | $0 }
        let sorted = keys.sorted()
        keys.withUnsafeMutableBufferPointer {
            $0.radixSort(fromBit: lowBit, digitBits: 11) { $0 }
        }
        #expect(keys == sorted)
    }

    @Test func `the first place of a range is the one that a walk finds`() {
        var random = SplitMix64(seed: 1)
        for _ in 0..<1_000 {
            let low = random.below(20)
            let range = low..<low + random.below(20)
            let limit = random.below(45)
            #expect(
                range.firstPosition { $0 < limit } == range.first { $0 >= limit }
                    ?? range.upperBound)
        }
    }
}
