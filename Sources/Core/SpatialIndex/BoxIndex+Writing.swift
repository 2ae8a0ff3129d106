import Geodesy
import PersistentStructures

extension BoxIndex {
    /// Sets the boxes of a slot, and replaces former ones; without pieces the slot is removed.
    ///
    /// - Complexity: O(log n) amortised for each box. One write in 256 builds a tree of at most about
    ///   4,096 entries. Longer merges are left to `pendingMerge` until there are more than 32 tiers.
    public mutating func set(_ pieces: [PreparedPlace.Piece], for slot: Slot) {
        remove(slot)
        guard !pieces.isEmpty else { return }
        let entries = Self.entries(pieces, of: slot, epoch: epoch)
        if !tiers.isEmpty {
            sizes.set(Int(slot), 0, fillingWith: 0)
            for entry in entries { enter(entry) }
        }
        delta += entries
        count += 1
        boxCount += entries.count
        if delta.count >= Int(deltaCapacity) { flush() }
    }

    /// Removes the boxes of a slot, if it has any.
    ///
    /// - Complexity: as for `set`.
    public mutating func remove(_ slot: Slot) {
        let stamp = tiers.isEmpty ? epoch : currentStamp(of: slot)
        guard stamp != 0 else { return }
        if !tiers.isEmpty { stamps[Int(slot)] = 0 }
        guard Stamp.epoch(stamp) == epoch else {
            let entries = Int(sizes[Int(slot)])
            count -= 1
            boxCount -= entries
            bury(stamp, entries: entries)
            return tidy()
        }
        let before = delta.count
        delta.removeAll { $0.slot == slot }
        if delta.count < before { count -= 1 }
        boxCount -= before - delta.count
    }
}

extension BoxIndex: TieredIndex {
    var liveCount: Int { boxCount }
    var deltaCount: Int { delta.count }

    func packedDelta() -> BoxTier { BoxTier(delta) }

    mutating func emptyDelta() { delta.removeAll(keepingCapacity: true) }

    mutating func enterSlots() {
        for entry in delta { enter(entry) }
    }

    mutating func renumber() {
        let entries = liveEntries(withEpoch: PointIndex.firstEpoch)
        self = BoxIndex(epoch: PointIndex.firstEpoch, deltaCapacity: deltaCapacity)
        load(entries)
    }

    mutating func dissolve() {
        let entries = liveEntries(withEpoch: epoch)
        let (count, boxCount) = (count, boxCount)
        self = BoxIndex(epoch: epoch, deltaCapacity: deltaCapacity)
        (self.count, self.boxCount, delta) = (count, boxCount, entries)
    }

    private func liveEntries(withEpoch epoch: UInt32) -> [BoxEntry] {
        var entries: [BoxEntry] = []
        for record in tiers { record.appendLiveEntries(to: &entries, stamps: stamps) }
        entries += delta
        for position in entries.indices {
            entries[position].stamp = entries[position].stamp & Stamp.several | epoch
        }
        return entries
    }
}

// MARK: - Merges in the background

extension BoxIndex {
    /// A merge of some large tiers. It can run on any thread while the index is written.
    public struct Merge: Sendable {
        fileprivate let records: [TierRecord<BoxTier>]
        fileprivate let stamps: PersistentArray<UInt32>

        /// The number of entries to pack, which measures the work.
        public var entryCount: Int { records.liveCount() }

        /// Packs the entries that were live when the merge was created into one tree.
        ///
        /// - Complexity: O(entries).
        public func run() -> Merged {
            Merged(sources: records, tier: records.merged(stamps))
        }
    }

    /// The result of a `Merge`: one tier that replaces several.
    public struct Merged: Sendable {
        fileprivate let sources: [TierRecord<BoxTier>]
        fileprivate let tier: BoxTier?
    }

    /// The merge of large tiers that is due; nil if none is. If this is never called, answers stay
    /// correct, but there are more tiers and an occasional slow write.
    public func pendingMerge() -> Merge? {
        pendingRecords().map { Merge(records: $0, stamps: stamps) }
    }

    /// A merge of all tiers into one, for an index that is not written for a while; nil if there is
    /// almost nothing to gain.
    public func wholeMerge() -> Merge? {
        wholeRecords().map { Merge(records: $0, stamps: stamps) }
    }

    /// Replaces the sources of a merge by its result, in the index that created it or in a later state
    /// of it. Later writes stay in effect.
    ///
    /// - Returns: false, with nothing changed, if the index no longer has the sources.
    @discardableResult
    public mutating func install(_ merged: Merged) -> Bool {
        install(merged.tier, of: merged.sources)
    }
}
