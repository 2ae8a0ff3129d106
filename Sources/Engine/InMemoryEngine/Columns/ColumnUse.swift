import Synchronization

/// A column's identity, and two flags that tell whether it has answered queries: since the last
/// choice of what to drop, and since the last list of what to remember.
package final class ColumnUse: Sendable {
    private static let (chance, recent): (UInt8, UInt8) = (1, 2)

    private let flags = Atomic(chance)

    func touch() {
        let all = Self.chance | Self.recent
        if flags.load(ordering: .relaxed) != all { flags.store(all, ordering: .relaxed) }
    }

    /// Returns whether the column has been used, and resets the flag: the clock, or second-chance,
    /// algorithm.
    package func takeChance() -> Bool { take(Self.chance) }

    /// Returns whether the column has been used since the last call.
    package func takeRecent() -> Bool { take(Self.recent) }

    private func take(_ flag: UInt8) -> Bool {
        flags.bitwiseAnd(~flag, ordering: .relaxed).oldValue & flag != 0
    }
}
