import PersistentStructures
import TestSupport
import Testing

@Suite struct BinaryHeapTests {
    private struct Number: BitwiseCopyable, HeapOrdered {
        let value: Int

        func precedes(_ other: Number) -> Bool { value < other.value }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `any history gives the least of a list each time`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var heap = BinaryHeap<Number>(minimumCapacity: 4)
        // Few values, so that many are equal.
        var list = (0..<random.below(100)).map { _ in random.below(30) }
        for value in list { heap.appendUnordered(Number(value: value)) }
        heap.restoreOrder()
        for step in 0..<2_000 {
            #expect(heap.first?.value == list.min(), "seed \(seed), step \(step)")
            if random.below(100) < 45 + step / 200 {
                let popped = heap.popFirst()?.value
                #expect(popped == list.min(), "seed \(seed), step \(step)")
                if let position = list.firstIndex(where: { $0 == popped }) {
                    list.remove(at: position)
                }
            } else {
                let value = random.below(30)
                heap.insert(Number(value: value))
                list.append(value)
            }
        }
        for value in list.sorted() { #expect(heap.popFirst()?.value == value, "seed \(seed)") }
        #expect(heap.first == nil && heap.popFirst() == nil)
    }
}
