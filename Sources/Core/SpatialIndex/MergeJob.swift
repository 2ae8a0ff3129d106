import PersistentStructures

/// A merge of some large tiers of an index. It can run on any thread while the index is written.
///
///     if let job = index.pendingMerge() {
///         let merged = job.run()          // on another thread
///         index.install(merged)           // on the writer's
///     }
public struct MergeJob: Sendable {
    let records: [TierRecord]
    let stamps: PersistentArray<UInt32>

    /// The number of entries to pack, which measures the work.
    public var entryCount: Int { records.reduce(0) { $0 + $1.live } }

    /// Packs the entries that were live when the job was created into one tree.
    ///
    /// - Complexity: O(entries), about 50 nanoseconds each, without scratch memory.
    public func run() -> MergedTier {
        let tier = entryCount == 0 ? nil : Tier(merging: records, stamps: stamps)
        return MergedTier(sources: records, tier: tier)
    }
}

/// The result of a `MergeJob`: one tier that replaces several.
public struct MergedTier: Sendable {
    let sources: [TierRecord]
    let tier: Tier?
}

extension PointIndex {
    /// The merge of large tiers that is due; nil if none is.
    ///
    /// A tier is merged with a newer neighbour that has grown to half its size, and rebuilt when
    /// more than a quarter of it is dead. If this is never called, answers stay correct, but there
    /// are more tiers and an occasional slow write.
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

    /// A merge of all tiers into one. Many queries benefit from it, but writes soon undo it, so it
    /// suits an index that is not written for a while. Nil if there is almost nothing to gain.
    public func wholeMerge() -> MergeJob? {
        guard tiers.count > 1 || (tiers.first?.dead ?? 0) >= Int(deltaCapacity) else { return nil }
        return MergeJob(records: tiers, stamps: stamps)
    }

    /// Replaces the sources of a merged tier by that tier, in the index that created the job or in
    /// a later state of it. Later moves and removals of points stay in effect.
    ///
    /// - Returns: false, with nothing changed, if the index no longer has the sources.
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
