import PersistentStructures

/// An index that keeps its latest writes in an unsorted delta and the rest in packed trees, its
/// tiers: when the delta becomes a tree, and which trees are merged.
///
/// - Reference: Bentley and Saxe, "Decomposable searching problems", J. Algorithms 1(4), 1980.
protocol TieredIndex {
    associatedtype Tree: PackedTier

    /// The trees, oldest first. The epochs of each tier follow those of the previous one.
    var tiers: [TierRecord<Tree>] { get set }
    /// The stamp of the delta's entries, never 0.
    var epoch: UInt32 { get set }
    /// The number of entries in the delta before it becomes a tier.
    var deltaCapacity: UInt32 { get }
    /// The current stamp of each slot, 0 for none.
    var stamps: PersistentArray<UInt32> { get }
    /// The number of live entries, those of the delta included.
    var liveCount: Int { get }
    /// The number of entries in the delta.
    var deltaCount: Int { get }

    /// A tree of the delta's entries, of which there is at least one.
    func packedDelta() -> Tree
    /// Forgets the delta's entries.
    mutating func emptyDelta()
    /// Begins to keep what is kept by slot. An index that is only a delta has none of it.
    mutating func enterSlots()
    /// Rebuilds everything as epoch 1 when the stamps are exhausted, after 2^31 epochs.
    mutating func renumber()
    /// Returns to a delta without tiers. It must have room for all live entries.
    mutating func dissolve()
}

extension TieredIndex {
    // The sizes that shape the index. The numbers in brackets apply to a delta of 256 entries.

    /// A tier of at least this many entries is sealed: only a job merges it (2,048).
    var sealedSize: Int { Int(deltaCapacity) * 8 }

    /// An index with trees that shrinks to this many entries becomes a single delta again (32).
    var smallestForest: Int { Int(deltaCapacity) / 8 }

    /// If there are more tiers than this, or if the dead entries outnumber both the live ones and
    /// `sealedSize`, a write performs the merges that did not run in the background.
    static var maximumTiers: Int { 32 }

    /// The number of tiers up to the last sealed one.
    var sealedCount: Int { (tiers.lastIndex(where: isSealed) ?? -1) + 1 }

    private func isSealed(_ record: TierRecord<Tree>) -> Bool { record.tier.count >= sealedSize }

    /// The current stamp of a slot; 0 if the slot has no entry. It may be used only if the index has
    /// tiers.
    func currentStamp(of slot: Slot) -> UInt32 {
        Int(slot) < stamps.count ? stamps[Int(slot)] : 0
    }

    /// Counts the entries of a slot, of an earlier epoch, as dead.
    mutating func bury(_ stamp: UInt32, entries: Int) {
        let epoch = Stamp.epoch(stamp)
        guard let position = tiers.lastIndex(where: { $0.epochs.lowerBound <= epoch }) else {
            preconditionFailure("no tier for epoch \(epoch)")
        }
        tiers[position].dead += entries
    }

    /// Ends the epoch. The delta becomes a tier, merged with the small tiers of about its size.
    mutating func flush() {
        if epoch == Stamp.lastEpoch {
            renumber()
            return
        }
        if tiers.isEmpty { enterSlots() }
        var first = tiers.count
        var size = deltaCount
        while first > 0 {
            let previous = tiers[first - 1]
            guard !isSealed(previous) && (previous.live <= 2 * size || previous.isStale) else {
                break
            }
            first -= 1
            size += previous.live
        }
        mergeTail(from: first)
        tidy()
    }

    /// Replaces the delta and the tiers from `first` on by one tier, and begins a new epoch.
    private mutating func mergeTail(from first: Int) {
        var merged = tiers[first...].filter { $0.live > 0 }
        if deltaCount > 0 {
            merged.append(TierRecord(tier: packedDelta(), epochs: epoch...epoch))
        }
        let oldest = first < tiers.count ? tiers[first].epochs.lowerBound : epoch
        tiers.removeSubrange(first...)
        if !merged.isEmpty {
            let isOne = merged.count == 1 && merged[0].dead == 0
            let tier = isOne ? merged[0].tier : Tree(merging: merged, stamps: stamps)
            tiers.append(TierRecord(tier: tier, epochs: oldest...epoch))
        }
        emptyDelta()
        epoch += 1
    }

    /// Drops dead tiers, rebuilds small stale ones, and merges large ones that exceed every limit.
    mutating func tidy() {
        tiers.removeAll { $0.live == 0 }
        if tiers.isEmpty || liveCount <= smallestForest {
            dissolve()
            return
        }
        let tail = sealedCount
        if let stale = tiers[tail...].firstIndex(where: \.isStale), epoch < Stamp.lastEpoch {
            mergeTail(from: stale)
        }
        let dead = tiers.reduce(0) { $0 + $1.dead }
        if tiers.count > Self.maximumTiers || dead > max(liveCount, sealedSize) {
            while let records = pendingRecords() {
                install(records.merged(stamps), of: records)
            }
        }
    }

    // MARK: Merges in the background

    /// The large tiers whose merge is due; nil if none is.
    ///
    /// A tier is merged with a newer neighbour that has grown to half its size, and rebuilt when
    /// more than a quarter of it is dead.
    func pendingRecords() -> [TierRecord<Tree>]? {
        let end = sealedCount
        guard end > 0 else { return nil }
        var first = end - 1
        var size = tiers[first].live
        while first > 0 && tiers[first - 1].live <= 2 * size {
            first -= 1
            size += tiers[first].live
        }
        let stale = tiers[..<end].firstIndex(where: \.isStale) ?? end
        first = min(first, stale)
        guard first < end - 1 || stale < end else { return nil }
        return Array(tiers[first..<end])
    }

    /// All tiers; nil if there is almost nothing to gain from their merge.
    func wholeRecords() -> [TierRecord<Tree>]? {
        guard tiers.count > 1 || (tiers.first?.dead ?? 0) >= Int(deltaCapacity) else { return nil }
        return tiers
    }

    /// Replaces tiers by one that has been made of them. Later moves and removals stay in effect.
    ///
    /// - Returns: false, with nothing changed, if the index no longer has the sources.
    @discardableResult
    mutating func install(_ tier: Tree?, of sources: [TierRecord<Tree>]) -> Bool {
        guard let oldest = sources.first, let newest = sources.last,
            let first = tiers.firstIndex(where: { $0.tier === oldest.tier }),
            first + sources.count <= tiers.count
        else { return false }
        let range = first..<first + sources.count
        var dead = 0
        for (current, source) in zip(tiers[range], sources) {
            guard current.tier === source.tier && current.dead >= source.dead else { return false }
            dead += current.dead - source.dead
        }
        let epochs = oldest.epochs.lowerBound...newest.epochs.upperBound
        let record = tier.map { TierRecord(tier: $0, epochs: epochs, dead: dead) }
        tiers.replaceSubrange(range, with: record.map { [$0] } ?? [])
        if tiers.isEmpty { dissolve() }
        return true
    }
}

extension Array {
    /// The number of entries that a merge has to pack.
    func liveCount<Tree>() -> Int where Element == TierRecord<Tree> { reduce(0) { $0 + $1.live } }

    /// One tree of the entries that are live; nil without any.
    func merged<Tree>(_ stamps: PersistentArray<UInt32>) -> Tree?
    where Element == TierRecord<Tree> {
        liveCount() == 0 ? nil : Tree(merging: self, stamps: stamps)
    }
}
