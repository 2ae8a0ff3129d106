import Synchronization

/// How many objects a read has found, told by the thread that runs it.
public final class FoundCount: Sendable {
    private let number = Atomic<Int>(-1)

    /// Nothing has been found yet.
    public init() {}

    func note(_ count: Int) { number.store(count, ordering: .relaxed) }

    /// Nil if that was not told.
    public var count: Int? {
        let count = number.load(ordering: .relaxed)
        return count < 0 ? nil : count
    }
}
