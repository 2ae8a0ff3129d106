import DequeModule

/// What waits for its turn, of several owners: they have their turns one after the other, so that nobody
/// waits for more than one element of each other owner before the next of its own.
public struct FairQueue<Element> {
    private var waiting: [String: Deque<Element>] = [:]
    /// Owners of elements that wait, each once, in the order of their turns.
    private var turns: Deque<String> = []
    /// How many elements wait, of all owners.
    public private(set) var count = 0

    /// A queue in which nothing waits.
    public init() {}

    /// Whether nothing waits.
    public var isEmpty: Bool { count == 0 }

    /// The element that comes next.
    public var first: Element? { turns.first.flatMap { waiting[$0]!.first } }

    /// Adds an element behind those of its owner; a new owner's turn comes after all others'.
    ///
    /// - Complexity: O(1), amortised.
    public mutating func append(_ element: Element, of owner: String) {
        count += 1
        if waiting[owner]?.append(element) == nil {
            waiting[owner] = [element]
            turns.append(owner)
        }
    }

    /// Takes the next element.
    ///
    /// - Parameter isReady: tells of an owner whether it may have its turn; others are passed over.
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
