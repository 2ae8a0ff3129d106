import Geodesy
import PersistentStructures

extension BoxIndex {
    /// One sentence for each broken invariant; empty for a sound index.
    ///
    /// - Complexity: O(n); for checks and tests.
    public func violations() -> [String] {
        var found: [String] = []
        var live: [Slot: Int] = [:]
        for entry in delta {
            if Stamp.epoch(entry.stamp) != epoch {
                found.append("delta: slot \(entry.slot) has stamp \(entry.stamp), not \(epoch)")
            }
            if !tiers.isEmpty, currentStamp(of: entry.slot) != entry.stamp {
                found.append("delta: slot \(entry.slot) has another stamp by slot")
            }
            count(entry, in: "delta", &live, &found)
        }
        if delta.count >= deltaCapacity { found.append("delta: \(delta.count) entries") }
        for (number, record) in tiers.enumerated() {
            checkEntries(number, record, &live, &found)
            record.tier.checkNodes(tier: number, &found)
            if number > 0, record.epochs.lowerBound <= tiers[number - 1].epochs.upperBound {
                found.append("tier \(number) begins at an epoch of the tier before it")
            }
        }
        if live.count != count {
            found.append("the index counts \(count) slots and holds \(live.count)")
        }
        let boxes = live.values.reduce(0, +)
        if boxes != boxCount {
            found.append("the index counts \(boxCount) boxes and holds \(boxes)")
        }
        checkSlots(live, &found)
        return found
    }

    private func checkEntries(
        _ number: Int, _ record: TierRecord<BoxTier>, _ live: inout [Slot: Int],
        _ found: inout [String]
    ) {
        var dead = 0
        for position in 0..<record.tier.count {
            let entry = record.tier.entry(position)
            if !record.epochs.contains(Stamp.epoch(entry.stamp)) {
                found.append("tier \(number): slot \(entry.slot) has stamp \(entry.stamp)")
            }
            if currentStamp(of: entry.slot) != entry.stamp {
                dead += 1
            } else {
                count(entry, in: "tier \(number)", &live, &found)
            }
        }
        if dead != record.dead {
            found.append("tier \(number) counts \(record.dead) dead entries and has \(dead)")
        }
        if record.epochs.upperBound >= epoch {
            found.append("tier \(number) reaches into the current epoch \(epoch)")
        }
    }

    /// Counts a live entry, which is alone or has the mark of several.
    private func count(
        _ entry: BoxEntry, in part: String, _ live: inout [Slot: Int], _ found: inout [String]
    ) {
        live[entry.slot, default: 0] += 1
        if live[entry.slot]! > 1, !Stamp.isOneOfSeveral(entry.stamp) {
            found.append("\(part): slot \(entry.slot) is alive twice")
        }
    }

    private func checkSlots(_ live: [Slot: Int], _ found: inout [String]) {
        if tiers.isEmpty {
            if !stamps.isEmpty { found.append("stamps are kept without tiers") }
            return
        }
        for (slot, boxes) in live where Int(slot) >= sizes.count || sizes[Int(slot)] != boxes {
            found.append("slot \(slot) has \(boxes) boxes, and others by slot")
        }
        let stamped = (0..<stamps.count).count { stamps[$0] != 0 }
        if stamped != count { found.append("\(stamped) slots have stamps, not \(count)") }
    }
}

extension BoxTier {
    /// Appends a sentence for each node whose box does not contain everything below it.
    fileprivate func checkNodes(tier: Int, _ found: inout [String]) {
        for level in 0..<shape.levels {
            for node in 0..<shape.nodeCount(level: level) {
                let box = Self.box(
                    in: group(node / TierLayout.fanout, level: level), node % TierLayout.fanout)
                let isSound = shape.entries(below: node, level: level).allSatisfy {
                    box.contains(entry($0).box)
                }
                if !isSound {
                    found.append("tier \(tier), level \(level): node \(node) is too small")
                }
            }
        }
    }
}
