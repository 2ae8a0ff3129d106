import PersistentStructures

/// A merge of some large tiers of an index. It can run on any thread while the index is written.
///
///     if let job = index.pendingMerge() {
///         let merged = job.run()          // on another thread
///         index.install(merged)           // on the writer's
///     }
public struct MergeJob: Sendable {
    let records: [TierRecord<Tier>]
    let stamps: PersistentArray<UInt32>

    /// The number of entries to pack, which measures the work.
    public var entryCount: Int { records.liveCount() }

    /// Packs the entries that were live when the job was created into one tree.
    ///
    /// - Complexity: O(entries), about 50 nanoseconds each, without scratch memory.
    public func run() -> MergedTier {
        MergedTier(sources: records, tier: records.merged(stamps))
    }
}

/// The result of a `MergeJob`: one tier that replaces several.
public struct MergedTier: Sendable {
    let sources: [TierRecord<Tier>]
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
        pendingRecords().map { MergeJob(records: $0, stamps: stamps) }
    }

    /// A merge of all tiers into one. Many queries benefit from it, but writes soon undo it, so it
    /// suits an index that is not written for a while. Nil if there is almost nothing to gain.
    public func wholeMerge() -> MergeJob? {
        wholeRecords().map { MergeJob(records: $0, stamps: stamps) }
    }

    /// Replaces the sources of a merged tier by that tier, in the index that created the job or in
    /// a later state of it. Later moves and removals of points stay in effect.
    ///
    /// - Returns: false, with nothing changed, if the index no longer has the sources.
    @discardableResult
    public mutating func install(_ merged: MergedTier) -> Bool {
        install(merged.tier, of: merged.sources)
    }
}

extension TierRecord where Tree == Tier {
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
