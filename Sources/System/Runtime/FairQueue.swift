import DequeModule

/// A queue of elements that belong to several owners. The owners take turns, so before an owner's
/// next element at most one element of each other owner is taken.
public struct FairQueue<Element> {
    private var waiting: [String: Deque<Element>] = [:]
    /// The owners of waiting elements, each once, in the order of their turns.
    private var turns: Deque<String> = []
    /// The number of waiting elements of all owners.
    public private(set) var count = 0

    /// An empty queue.
    public init() {}

    /// Whether the queue is empty.
    public var isEmpty: Bool { count == 0 }

    /// The waiting elements in no particular order.
    public var elements: some Sequence<Element> { waiting.values.lazy.joined() }

    /// The next element.
    public var first: Element? { turns.first.flatMap { waiting[$0]!.first } }

    /// Adds an element after the other elements of its owner. A new owner's turn comes last.
    ///
    /// - Complexity: O(1), amortised.
    public mutating func append(_ element: Element, of owner: String) {
        count += 1
        if waiting[owner]?.append(element) == nil {
            waiting[owner] = [element]
            turns.append(owner)
        }
    }

    /// Removes and returns the next element.
    ///
    /// - Parameter isReady: returns whether an owner may have its turn. Other owners are skipped.
    public mutating func popFirst(
        where isReady: (_ owner: String) -> Bool = { _ in true }
    ) -> (owner: String, element: Element)? {
        guard let position = turns.firstIndex(where: isReady) else { return nil }
        let owner = turns.remove(at: position)
        let element = waiting[owner]!.removeFirst()
        if waiting[owner]!.isEmpty { waiting[owner] = nil } else { turns.append(owner) }
        count -= 1
        return (owner, element)
    }
}
