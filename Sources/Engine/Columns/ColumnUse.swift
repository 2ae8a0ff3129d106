import Synchronization

/// A column's identity, and a flag that tells whether it has answered queries since the last check.
package final class ColumnUse: Sendable {
    private let used = Atomic(true)

    func touch() {
        if !used.load(ordering: .relaxed) { used.store(true, ordering: .relaxed) }
    }

    /// Returns whether the column has been used, and resets the flag: the clock, or second-chance,
    /// algorithm.
    package func takeChance() -> Bool { used.exchange(false, ordering: .relaxed) }
}
