import PersistentStructures
import TestSupport
import Testing

@Suite struct PersistentArrayTests {
    @Test func `any history equals an array's, and copies stay as they were`() {
        for seed in UInt64(1)...5 {
            var random = SplitMix64(seed: seed)
            var persistent = PersistentArray<UInt32>()
            var plain: [UInt32] = []
            var copies: [(PersistentArray<UInt32>, [UInt32])] = []
            for step in 0..<6000 {
                let value = UInt32(step)
                switch random.below(20) {
                case 0:
                    let count = random.below([10, 1000, 40_000][random.below(3)])
                    let kept = min(count, plain.count)
                    let filler = [UInt32](repeating: value, count: count - kept)
                    plain = Array(plain[..<kept]) + filler
                    persistent.resize(to: count, repeating: value)
                case 1:
                    if copies.count == 30 {
                        let (copy, expected) = copies.remove(at: random.below(30))
                        #expect(copy.elementsEqual(expected), "seed \(seed), step \(step)")
                    }
                    copies.append((persistent, plain))
                case 2...9:
                    plain.append(value)
                    persistent.append(value)
                default:
                    guard !plain.isEmpty else { break }
                    let index = random.below(plain.count)
                    plain[index] = value
                    persistent[index] = value
                }
            }
            copies.append((persistent, plain))
            for (copy, expected) in copies {
                #expect(copy.elementsEqual(expected), "seed \(seed)")
            }
        }
    }

    /// The elements of the largest are fetched ahead.
    @Test(arguments: [1, 200, 256, 257, 70_000, 200_000], [0, 1, 16, 17, 500])
    func `elements at many indexes are those at each`(count: Int, indexCount: Int) {
        var random = SplitMix64(seed: UInt64(count))
        var array = PersistentArray<UInt32>()
        for _ in 0..<count { array.append(UInt32(random.below(1 << 30))) }
        var indexes = (0..<indexCount).map { _ in UInt32(random.below(count)) }
        var found: [UInt32] = []
        indexes.withUnsafeMutableBufferPointer { array.forEach(at: $0) { found.append($0) } }
        #expect(found == indexes.map { array[Int($0)] })
    }

    @Test func `setting behind the end fills the gap`() {
        var array = PersistentArray<Double>()
        array.set(70_000, 2.5, fillingWith: -1)
        #expect(array.count == 70_001)
        #expect(array[69_999] == -1 && array[70_000] == 2.5 && array[0] == -1)
    }

    @Test func `a few elements take a few bytes`() {
        var array = PersistentArray<UInt32>()
        #expect(array.isEmpty && array.memoryBytes == 0)
        for value in 0..<UInt32(8) { array.append(value) }
        #expect(array.memoryBytes < 300)
    }
}
