import Geodesy
import PersistentStructures

extension PointIndex {
    /// Sets the slot's point, and replaces a former one.
    ///
    /// - Complexity: O(log n) amortised. One write in 256 builds a tree of at most about 4,096
    ///   entries. Longer merges are left to `pendingMerge` until there are more than 32 tiers.
    ///   Setting the same point again changes nothing.
    public mutating func set(_ coordinate: Coordinate, for slot: Slot) {
        let entry = Entry(slot: slot, stamp: epoch, coordinate: coordinate)
        if tiers.isEmpty {
            if let position = positionInDelta(slot) {
                delta[position] = entry
                return
            }
            count += 1
        } else {
            let stamp = currentStamp(of: slot)
            if stamp != 0, coordinates[Int(slot)].isIdentical(to: coordinate) { return }
            stamps.set(Int(slot), epoch, fillingWith: 0)
            coordinates.set(Int(slot), coordinate, fillingWith: Self.nowhere)
            if stamp == epoch, let position = positionInDelta(slot) {
                delta[position] = entry
                return
            }
            if stamp == 0 { count += 1 } else { bury(stamp) }
        }
        delta.append(entry)
        if delta.count >= Int(deltaCapacity) { flush() }
    }

    /// Removes the slot's point, if it exists.
    ///
    /// - Complexity: as for `set`.
    public mutating func remove(_ slot: Slot) {
        if tiers.isEmpty {
            guard let position = positionInDelta(slot) else { return }
            removeFromDelta(position)
            count -= 1
            return
        }
        let stamp = currentStamp(of: slot)
        guard stamp != 0 else { return }
        count -= 1
        stamps[Int(slot)] = 0
        if stamp == epoch, let position = positionInDelta(slot) {
            removeFromDelta(position)
        } else {
            bury(stamp)
            tidy()
        }
    }

    private func positionInDelta(_ slot: Slot) -> Int? {
        delta.withUnsafeBufferPointer { entries in
            entries.firstIndex { $0.slot == slot }
        }
    }

    private mutating func removeFromDelta(_ position: Int) {
        delta.swapAt(position, delta.count - 1)
        delta.removeLast()
    }

    /// Counts one entry of an earlier epoch as dead.
    private mutating func bury(_ stamp: UInt32) {
        guard let position = tiers.lastIndex(where: { $0.epochs.lowerBound <= stamp }) else {
            preconditionFailure("no tier for stamp \(stamp)")
        }
        tiers[position].dead += 1
    }

    static let nowhere = Coordinate(latitude: 0, longitude: 0)
}

extension Coordinate {
    /// Whether both coordinates have bitwise identical numbers.
    fileprivate func isIdentical(to other: Coordinate) -> Bool {
        latitude.bitPattern == other.latitude.bitPattern
            && longitude.bitPattern == other.longitude.bitPattern
    }
}

// MARK: - Epochs

extension PointIndex {
    /// Builds the single tier of a bulk load from points in ascending order of slots.
    mutating func pack(_ points: [(slot: Slot, coordinate: Coordinate)]) {
        let slots = Int(points[points.count - 1].slot) + 1
        let epoch = epoch
        var next = 0
        stamps = PersistentArray(count: slots) { first, chunk in
            chunk.initialize(repeating: 0)
            while next < points.count, Int(points[next].slot) - first < chunk.count {
                chunk[Int(points[next].slot) - first] = epoch
                next += 1
            }
        }
        next = 0
        coordinates = PersistentArray(count: slots) { first, chunk in
            chunk.initialize(repeating: Self.nowhere)
            while next < points.count, Int(points[next].slot) - first < chunk.count {
                chunk[Int(points[next].slot) - first] = points[next].coordinate
                next += 1
            }
        }
        count = points.count
        let tier = points.withUnsafeBufferPointer { points in
            Tier(
                points, position: { ($0.coordinate.latitude, $0.coordinate.longitude) },
                entry: { Entry(slot: $0.slot, stamp: epoch, coordinate: $0.coordinate) })
        }
        tiers = [TierRecord(tier: tier, epochs: epoch...epoch)]
        self.epoch += 1
    }

    /// Ends the epoch. The delta becomes a tier, merged with the small tiers of about its size.
    private mutating func flush() {
        if epoch == .max {
            renumber()
            return
        }
        if tiers.isEmpty { enterSlots() }
        var first = tiers.count
        var size = delta.count
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
        var entries = liveEntries(of: tiers[first...])
        entries.append(contentsOf: delta)
        let oldest = first < tiers.count ? tiers[first].epochs.lowerBound : epoch
        tiers.removeSubrange(first...)
        if !entries.isEmpty {
            let tier = entries.withUnsafeBufferPointer { Tier($0) }
            tiers.append(TierRecord(tier: tier, epochs: oldest...epoch))
        }
        delta.removeAll(keepingCapacity: true)
        epoch += 1
    }

    /// Begins to keep stamps and coordinates by slot. An index that is only a delta has none.
    private mutating func enterSlots() {
        for entry in delta {
            stamps.set(Int(entry.slot), entry.stamp, fillingWith: 0)
            coordinates.set(Int(entry.slot), entry.coordinate, fillingWith: Self.nowhere)
        }
    }

    /// Rebuilds everything as epoch 1 when the stamps are exhausted, after 2^32 epochs.
    private mutating func renumber() {
        let entries = liveEntries(of: tiers[...]) + delta
        let points = entries.map { (slot: $0.slot, coordinate: $0.coordinate) }
        self = PointIndex(bulk: points, deltaCapacity: Int(deltaCapacity))
    }

    /// Drops dead tiers, rebuilds small stale ones, and merges large ones that exceed every limit.
    private mutating func tidy() {
        tiers.removeAll { $0.live == 0 }
        if tiers.isEmpty || count <= smallestForest {
            dissolve()
            return
        }
        let tail = sealedCount
        if let stale = tiers[tail...].firstIndex(where: \.isStale), epoch < .max {
            mergeTail(from: stale)
        }
        let dead = tiers.reduce(0) { $0 + $1.dead }
        if tiers.count > Self.maximumTiers || dead > max(count, sealedSize) {
            while let job = pendingMerge() { install(job.run()) }
        }
    }

    /// Returns to a delta without tiers. It must have room for all live entries.
    mutating func dissolve() {
        var entries = liveEntries(of: tiers[...]) + delta
        for position in entries.indices { entries[position].stamp = epoch }
        self = PointIndex(epoch: epoch, deltaCapacity: deltaCapacity)
        delta = entries
        count = entries.count
    }

    /// The number of tiers up to the last sealed one.
    var sealedCount: Int { (tiers.lastIndex(where: isSealed) ?? -1) + 1 }

    private func isSealed(_ record: TierRecord) -> Bool { record.tier.count >= sealedSize }

    private func liveEntries(of records: ArraySlice<TierRecord>) -> [Entry] {
        var entries: [Entry] = []
        for record in records { record.appendLiveEntries(to: &entries, stamps: stamps) }
        return entries
    }
}
