import Geodesy
import PersistentStructures

extension PointIndex {
    /// Sets the slot's only point, and replaces former ones.
    ///
    /// - Complexity: O(log n) amortised. One write in 256 builds a tree of at most about 4,096
    ///   entries. Longer merges are left to `pendingMerge` until there are more than 32 tiers.
    ///   Setting the same point again changes nothing.
    public mutating func set(_ coordinate: Coordinate, for slot: Slot) {
        if tiers.isEmpty {
            if let position = positionInDelta(slot) {
                guard Stamp.isOneOfSeveral(delta[position].stamp) else {
                    delta[position] = Entry(slot: slot, stamp: epoch, coordinate: coordinate)
                    return
                }
                remove(slot)
            }
            count += 1
        } else {
            let stamp = currentStamp(of: slot)
            guard !Stamp.isOneOfSeveral(stamp) else {
                remove(slot)
                return set(coordinate, for: slot)
            }
            if stamp != 0, positions.first[Int(slot)].isIdentical(to: coordinate) { return }
            stamps.set(Int(slot), epoch, fillingWith: 0)
            positions.set(slot, coordinate)
            if stamp == epoch, let position = positionInDelta(slot) {
                delta[position] = Entry(slot: slot, stamp: epoch, coordinate: coordinate)
                return
            }
            if stamp == 0 { count += 1 } else { bury(stamp, entries: 1) }
        }
        delta.append(Entry(slot: slot, stamp: epoch, coordinate: coordinate))
        if delta.count >= Int(deltaCapacity) { flush() }
    }

    /// Sets the slot's points, and replaces former ones. Points with identical numbers count once;
    /// without points the slot is removed.
    ///
    /// - Complexity: as for `set` with one point, for each of them.
    public mutating func set(_ points: [Coordinate], for slot: Slot) {
        switch SlotPosition(points) {
        case .nowhere: remove(slot)
        case .one(let point): set(point, for: slot)
        case .several(let points):
            let present = position(of: slot).points
            guard !present.elementsEqual(points, by: { $0.isIdentical(to: $1) }) else { return }
            remove(slot)
            insert(points, for: slot)
        }
    }

    /// Adds a slot that has no points yet.
    mutating func insert(_ points: [Coordinate], for slot: Slot) {
        let stamp = points.count > 1 ? epoch | Stamp.several : epoch
        if !tiers.isEmpty {
            stamps.set(Int(slot), stamp, fillingWith: 0)
            positions.set(slot, points)
        }
        for point in points {
            delta.append(Entry(slot: slot, stamp: stamp, coordinate: point))
        }
        count += 1
        if delta.count >= Int(deltaCapacity) { flush() }
    }

    /// Removes the slot's points, if it has any.
    ///
    /// - Complexity: as for `set`.
    public mutating func remove(_ slot: Slot) {
        if tiers.isEmpty {
            removeFromDelta(slot)
            return
        }
        let stamp = currentStamp(of: slot)
        guard stamp != 0 else { return }
        stamps[Int(slot)] = 0
        if Stamp.epoch(stamp) == epoch {
            positions.removeOthers(of: slot)
            removeFromDelta(slot)
            return
        }
        var points = 1
        if Stamp.isOneOfSeveral(stamp) {
            points = positions.points(of: slot).count
            positions.removeOthers(of: slot)
        }
        count -= 1
        bury(stamp, entries: points)
        tidy()
    }

    private func positionInDelta(_ slot: Slot) -> Int? {
        delta.withUnsafeBufferPointer { entries in
            entries.firstIndex { $0.slot == slot }
        }
    }

    /// Removes the entries of a slot, if it has any. The others stay in their order, because the
    /// points of a slot are read in the order in which they were given.
    private mutating func removeFromDelta(_ slot: Slot) {
        guard let position = positionInDelta(slot) else { return }
        count -= 1
        if Stamp.isOneOfSeveral(delta[position].stamp) {
            delta.removeAll { $0.slot == slot }
        } else {
            delta.remove(at: position)
        }
    }
}

// MARK: - Epochs

extension PointIndex: TieredIndex {
    var liveCount: Int { pointCount }
    var deltaCount: Int { delta.count }

    func packedDelta() -> Tier {
        delta.sorted { $0.slot < $1.slot }.withUnsafeBufferPointer { Tier($0) }
    }

    mutating func emptyDelta() { delta.removeAll(keepingCapacity: true) }

    /// Begins to keep stamps and coordinates by slot. An index that is only a delta has none.
    mutating func enterSlots() {
        for (slot, entries) in Dictionary(grouping: delta, by: \.slot) {
            stamps.set(Int(slot), entries[0].stamp, fillingWith: 0)
            positions.set(slot, entries.map(\.coordinate))
        }
    }

    /// Rebuilds everything as epoch 1 when the stamps are exhausted, after 2^31 epochs.
    mutating func renumber() {
        let entries = liveEntries(of: tiers[...]) + delta
        let points = entries.map { (slot: $0.slot, coordinate: $0.coordinate) }
        self = PointIndex(bulk: points, deltaCapacity: Int(deltaCapacity))
    }

    /// Returns to a delta without tiers. It must have room for all live entries.
    mutating func dissolve() {
        var entries = liveEntries(of: tiers[...]) + delta
        for position in entries.indices {
            entries[position].stamp = entries[position].stamp & Stamp.several | epoch
        }
        let count = count
        self = PointIndex(epoch: epoch, deltaCapacity: deltaCapacity)
        (self.count, delta) = (count, entries)
    }

    private func liveEntries(of records: ArraySlice<TierRecord<Tier>>) -> [Entry] {
        var entries: [Entry] = []
        for record in records { record.appendLiveEntries(to: &entries, stamps: stamps) }
        return entries
    }
}
