/// A heap element that knows what comes first.
protocol HeapOrdered {
    /// Whether this element is to leave the heap before `other`.
    func precedes(_ other: Self) -> Bool
}

/// A binary min-heap.
///
/// - Complexity: O(log n) to insert and to pop, O(n) to build.
struct BinaryHeap<Element: HeapOrdered & BitwiseCopyable & Sendable>: Sendable {
    private var elements: ContiguousArray<Element> = []

    init(minimumCapacity: Int) {
        elements.reserveCapacity(minimumCapacity)
    }

    var isEmpty: Bool { elements.isEmpty }

    var count: Int { elements.count }

    var first: Element? { elements.first }

    mutating func insert(_ element: Element) {
        elements.append(element)
        elements.withUnsafeMutableBufferPointer { heap in
            var place = heap.count - 1
            while place > 0 {
                let parent = (place - 1) / 2
                guard element.precedes(heap[parent]) else { break }
                heap[place] = heap[parent]
                place = parent
            }
            heap[place] = element
        }
    }

    mutating func popFirst() -> Element? {
        guard let last = elements.popLast() else { return nil }
        guard let first = elements.first else { return last }
        elements.withUnsafeMutableBufferPointer { heap in
            Self.sink(last, from: 0, in: heap)
        }
        return first
    }

    /// Adds an element without restoring the order; `restoreOrder` must follow.
    mutating func appendUnordered(_ element: Element) { elements.append(element) }

    /// Makes a heap of whatever has been appended.
    mutating func restoreOrder() {
        elements.withUnsafeMutableBufferPointer { heap in
            for place in stride(from: heap.count / 2 - 1, through: 0, by: -1) {
                Self.sink(heap[place], from: place, in: heap)
            }
        }
    }

    private static func sink(
        _ element: Element, from start: Int, in heap: UnsafeMutableBufferPointer<Element>
    ) {
        var place = start
        while true {
            var child = 2 * place + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count && heap[child + 1].precedes(heap[child]) { child += 1 }
            guard heap[child].precedes(element) else { break }
            heap[place] = heap[child]
            place = child
        }
        heap[place] = element
    }
}
