import Synchronization

/// A column's identity, and whether it has answered queries since that was last asked.
package final class ColumnUse: Sendable {
    private let used = Atomic(true)

    func touch() {
        if !used.load(ordering: .relaxed) { used.store(true, ordering: .relaxed) }
    }

    /// Says whether it has been used, and forgets it: the clock, or second-chance, rule.
    package func takeChance() -> Bool { used.exchange(false, ordering: .relaxed) }
}
