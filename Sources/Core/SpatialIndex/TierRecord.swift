import PersistentStructures

/// A packed tree that is a tier of an index.
protocol PackedTier: AnyObject, Sendable {
    /// The number of its entries.
    var count: Int { get }

    /// A tier with the live entries of some others, of which there is at least one.
    ///
    /// - Parameter stamps: those of all slots.
    init(merging others: [TierRecord<Self>], stamps: PersistentArray<UInt32>)
}

/// A tier and the state of its entries.
struct TierRecord<Tree: PackedTier>: Sendable {
    let tier: Tree

    /// The range of its entries' stamps. No other tier has stamps in this range.
    let epochs: ClosedRange<UInt32>

    /// The number of dead entries.
    var dead = 0

    var live: Int { tier.count - dead }

    /// Whether so many entries are dead that the tier should be rebuilt.
    var isStale: Bool { dead * 4 > tier.count }
}

extension TierRecord where Tree == Tier {
    /// Whether every entry is a slot of its own: none is dead, and no slot has several.
    var isPlain: Bool { dead == 0 && !tier.hasSeveral }
}
