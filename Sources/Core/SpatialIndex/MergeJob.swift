import PersistentStructures

/// The merge of some large tiers of an index, to be run anywhere while the index is written.
///
///     if let job = index.pendingMerge() {
///         let merged = job.run()          // on another thread
///         index.install(merged)           // on the writer's
///     }
public struct MergeJob: Sendable {
    let records: [TierRecord]
    let stamps: PersistentArray<UInt32>

    /// How many entries there are to pack: a measure of the work.
    public var entryCount: Int { records.reduce(0) { $0 + $1.live } }

    /// Packs the entries that were alive when the job was made into one tree.
    ///
    /// - Complexity: O(entries), some 0.2 microseconds each; 56 bytes each of scratch memory.
    public func run() -> MergedTier {
        var entries: [Entry] = []
        entries.reserveCapacity(entryCount)
        for record in records { record.appendLiveEntries(to: &entries, stamps: stamps) }
        let tier = entries.isEmpty ? nil : entries.withUnsafeBufferPointer { Tier($0) }
        return MergedTier(sources: records, tier: tier)
    }
}

/// What a `MergeJob` made: one tier for several.
public struct MergedTier: Sendable {
    let sources: [TierRecord]
    let tier: Tier?
}

extension PointIndex {
    /// The merge of large tiers that is due, if one is.
    ///
    /// Tiers are merged with a newer neighbour that has grown to half their size, and rebuilt when
    /// more than a quarter of a tier is dead. Whoever never asks gets right answers from more
    /// tiers, and now and then a slow write.
    ///
    /// - Complexity: O(tiers).
    public func pendingMerge() -> MergeJob? {
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
        return MergeJob(records: Array(tiers[first..<end]), stamps: stamps)
    }

    /// The merge of all tiers into one: what many queries gain by and a write soon undoes, so it is
    /// for an index that is not written any more, or not for a while. Nil when there is next to
    /// nothing to gain.
    public func wholeMerge() -> MergeJob? {
        guard tiers.count > 1 || (tiers.first?.dead ?? 0) >= Int(deltaCapacity) else { return nil }
        return MergeJob(records: tiers, stamps: stamps)
    }

    /// Puts a merged tier in the place of its sources, in the index that made the job or a later
    /// state of it. Points moved or removed since stay so.
    ///
    /// - Returns: false, with nothing changed, if the sources are no longer there.
    @discardableResult
    public mutating func install(_ merged: MergedTier) -> Bool {
        guard let oldest = merged.sources.first, let newest = merged.sources.last,
            let first = tiers.firstIndex(where: { $0.tier === oldest.tier }),
            first + merged.sources.count <= tiers.count
        else { return false }
        let range = first..<first + merged.sources.count
        var dead = 0
        for (current, source) in zip(tiers[range], merged.sources) {
            guard current.tier === source.tier && current.dead >= source.dead else { return false }
            dead += current.dead - source.dead
        }
        let epochs = oldest.epochs.lowerBound...newest.epochs.upperBound
        let record = merged.tier.map { TierRecord(tier: $0, epochs: epochs, dead: dead) }
        tiers.replaceSubrange(range, with: record.map { [$0] } ?? [])
        if tiers.isEmpty { dissolve() }
        return true
    }
}

extension TierRecord {
    /// Appends the entries whose stamps are current.
    func appendLiveEntries(to entries: inout [Entry], stamps: PersistentArray<UInt32>) {
        let tree = tier.tree
        for number in 0..<tree.leafCount {
            let leaf = Leaf(base: tree.leaf(number))
            for lane in 0..<tree.entryCount(ofLeaf: number) {
                if dead == 0 || stamps[Int(leaf.slot(lane))] == leaf.stamp(lane) {
                    entries.append(leaf.entry(lane))
                }
            }
        }
    }
}
