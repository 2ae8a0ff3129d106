import DequeModule

/// A queue of elements that belong to several owners. The owners share it by the costs of their
/// elements, so a costly element waits for as much as it costs from each other owner. If all
/// elements cost the same, the owners take turns.
///
///     var queue = FairQueue<String>()
///     queue.append("long", of: "anna", cost: 3)
///     queue.append("short", of: "ben")
///     queue.append("short too", of: "ben")
///     queue.popFirst()                        // "short", then "short too", then "long"
///
/// - Reference: Golestani, "A Self-Clocked Fair Queueing Scheme for Broadband Applications",
///   INFOCOM 1994.
public struct FairQueue<Element> {
    /// The turn of an owner with waiting elements.
    @usableFromInline
    struct Turn {
        @usableFromInline
        let owner: String
        /// The clock when the owner's next element has been taken.
        @usableFromInline
        let end: Int

        @inlinable
        init(owner: String, end: Int) { (self.owner, self.end) = (owner, end) }
    }

    @usableFromInline
    var waiting: [String: Deque<(element: Element, cost: Int)>] = [:]
    /// One turn for each owner of waiting elements. Ends ascend; equal ones are in the order in
    /// which the turns were added.
    @usableFromInline
    var turns: Deque<Turn> = []
    /// The latest end of a turn that an owner has had. An owner's turns therefore advance it by
    /// what the owner's elements cost, and an owner without elements gains nothing by waiting.
    @usableFromInline
    var clock = 0
    /// The number of waiting elements of all owners.
    @inlinable
    public var count: Int { elementCount }

    @usableFromInline
    var elementCount = 0

    /// An empty queue.
    @inlinable
    public init() {}

    /// Whether the queue is empty.
    @inlinable
    public var isEmpty: Bool { count == 0 }

    /// The waiting elements in no particular order.
    @inlinable
    public var elements: some Sequence<Element> {
        waiting.values.lazy.joined().map(\.element)
    }

    /// The next element.
    @inlinable
    public var first: Element? { turns.first.flatMap { waiting[$0.owner]!.first?.element } }

    /// Adds an element after the other elements of its owner.
    ///
    /// - Complexity: O(1) amortised, or O(owners) if the owner has no other element.
    @inlinable
    public mutating func append(_ element: Element, of owner: String, cost: Int = 1) {
        elementCount += 1
        if waiting[owner]?.append((element, cost)) == nil {
            waiting[owner] = [(element, cost)]
            addTurn(of: owner, cost: cost)
        }
    }

    /// Removes and returns the next element.
    ///
    /// - Parameter isReady: returns whether an owner may have its turn. Other owners are skipped.
    /// - Complexity: O(owners).
    @inlinable
    public mutating func popFirst(
        where isReady: (_ owner: String) -> Bool = { _ in true }
    ) -> (owner: String, element: Element)? {
        guard let position = turns.firstIndex(where: { isReady($0.owner) }) else { return nil }
        let turn = turns.remove(at: position)
        clock = max(clock, turn.end)
        let element = waiting[turn.owner]!.removeFirst().element
        if let next = waiting[turn.owner]!.first {
            addTurn(of: turn.owner, cost: next.cost)
        } else {
            waiting[turn.owner] = nil
        }
        elementCount -= 1
        return (turn.owner, element)
    }

    @inlinable
    mutating func addTurn(of owner: String, cost: Int) {
        let end = clock + cost
        let later = turns.lastIndex { $0.end <= end }.map { $0 + 1 } ?? 0
        turns.insert(Turn(owner: owner, end: end), at: later)
    }
}
