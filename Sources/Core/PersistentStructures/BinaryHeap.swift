/// A heap element that defines the order in which elements leave the heap.
public protocol HeapOrdered {
    /// Whether this element leaves the heap before `other`.
    func precedes(_ other: Self) -> Bool
}

/// A binary min-heap.
///
/// - Complexity: O(log n) to insert and to pop, O(n) to build.
public struct BinaryHeap<Element: HeapOrdered & BitwiseCopyable & Sendable>: Sendable {
    @usableFromInline
    var elements: ContiguousArray<Element> = []

    /// An empty heap.
    @inlinable
    public init(minimumCapacity: Int) {
        elements.reserveCapacity(minimumCapacity)
    }

    /// The element that leaves next.
    @inlinable
    public var first: Element? { elements.first }

    /// Adds an element.
    @inlinable
    public mutating func insert(_ element: Element) {
        elements.append(element)
        elements.withUnsafeMutableBufferPointer { heap in
            var position = heap.count - 1
            while position > 0 {
                let parent = (position - 1) / 2
                guard element.precedes(heap[parent]) else { break }
                heap[position] = heap[parent]
                position = parent
            }
            heap[position] = element
        }
    }

    /// Removes and returns the first element in the heap's order.
    @inlinable
    public mutating func popFirst() -> Element? {
        guard let last = elements.popLast() else { return nil }
        guard let first = elements.first else { return last }
        elements.withUnsafeMutableBufferPointer { heap in
            Self.sink(last, from: 0, in: heap)
        }
        return first
    }

    /// Adds an element without restoring the order; `restoreOrder` must follow.
    @inlinable
    public mutating func appendUnordered(_ element: Element) { elements.append(element) }

    /// Restores the order after calls of `appendUnordered`.
    @inlinable
    public mutating func restoreOrder() {
        elements.withUnsafeMutableBufferPointer { heap in
            for position in stride(from: heap.count / 2 - 1, through: 0, by: -1) {
                Self.sink(heap[position], from: position, in: heap)
            }
        }
    }

    @inlinable
    static func sink(
        _ element: Element, from start: Int, in heap: UnsafeMutableBufferPointer<Element>
    ) {
        var position = start
        while true {
            var child = 2 * position + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count && heap[child + 1].precedes(heap[child]) { child += 1 }
            guard heap[child].precedes(element) else { break }
            heap[position] = heap[child]
            position = child
        }
        heap[position] = element
    }
}
