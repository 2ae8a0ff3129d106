import Geodesy
import PersistentStructures

extension PointIndex {
    /// One sentence for each broken invariant; empty for a sound index.
    ///
    /// - Complexity: O(n log n); for checks and tests.
    public func violations() -> [String] {
        var found: [String] = []
        var live: [Slot: [Coordinate]] = [:]
        checkDelta(&live, &found)
        for (number, record) in tiers.enumerated() {
            checkEntries(number, record, &live, &found)
            record.tier.tree.checkNodes(tier: number, &found)
            if number > 0 && record.epochs.lowerBound <= tiers[number - 1].epochs.upperBound {
                found.append("tier \(number) begins at an epoch of the tier before it")
            }
        }
        for (slot, points) in live where !tiers.isEmpty && points.count == 1 {
            if Stamp.isOneOfSeveral(currentStamp(of: slot)) {
                found.append("slot \(slot) has the mark of several points and one point")
            }
        }
        if live.count != count {
            found.append("the index counts \(count) slots and holds \(live.count)")
        }
        let points = live.values.reduce(0) { $0 + $1.count }
        if points != pointCount {
            found.append("the index counts \(pointCount) points and holds \(points)")
        }
        checkSlots(live, &found)
        return found
    }

    private func checkDelta(_ live: inout [Slot: [Coordinate]], _ found: inout [String]) {
        for entry in delta {
            if Stamp.epoch(entry.stamp) != epoch {
                found.append("delta: slot \(entry.slot) has stamp \(entry.stamp), not \(epoch)")
            }
            if !tiers.isEmpty, currentStamp(of: entry.slot) != entry.stamp {
                found.append("delta: slot \(entry.slot) has another stamp by slot")
            }
            live[entry.slot, default: []].append(entry.coordinate)
            checkMark(entry, in: "delta", live, &found)
        }
        if delta.count >= deltaCapacity { found.append("delta: \(delta.count) entries") }
    }

    private func checkEntries(
        _ number: Int, _ record: TierRecord<Tier>, _ live: inout [Slot: [Coordinate]],
        _ found: inout [String]
    ) {
        let tree = record.tier.tree
        var dead = 0
        var last: (place: CurvePlace, slot: Slot)?
        for position in 0..<tree.count {
            let entry = Leaf(base: tree.leaf(position >> 4)).entry(position & 15)
            let place = CurvePlace(latitude: entry.latitude, longitude: entry.longitude)
            if let last, (place, entry.slot) <= last {
                found.append("tier \(number): slot \(entry.slot) is not in the curve's order")
            }
            last = (place, entry.slot)
            if !record.epochs.contains(Stamp.epoch(entry.stamp)) {
                found.append("tier \(number): slot \(entry.slot) has stamp \(entry.stamp)")
            }
            if currentStamp(of: entry.slot) != entry.stamp {
                dead += 1
            } else {
                live[entry.slot, default: []].append(entry.coordinate)
                checkMark(entry, in: "tier \(number)", live, &found)
            }
            if Stamp.isOneOfSeveral(entry.stamp), !record.tier.hasSeveral {
                found.append("tier \(number) does not know of the points of slot \(entry.slot)")
            }
        }
        if dead != record.dead {
            found.append("tier \(number) counts \(record.dead) dead entries and has \(dead)")
        }
        if record.epochs.upperBound >= epoch {
            found.append("tier \(number) reaches into the current epoch \(epoch)")
        }
    }

    /// Whether an entry that is one of several has the mark.
    private func checkMark(
        _ entry: Entry, in part: String, _ live: [Slot: [Coordinate]], _ found: inout [String]
    ) {
        if live[entry.slot]!.count > 1, !Stamp.isOneOfSeveral(entry.stamp) {
            found.append("\(part): slot \(entry.slot) is alive twice")
        }
    }

    private func checkSlots(_ live: [Slot: [Coordinate]], _ found: inout [String]) {
        for (slot, points) in live where !Set(points).isSubset(of: position(of: slot).points) {
            found.append("slot \(slot) is at \(points) in its tree and elsewhere by slot")
        }
        for (slot, points) in live where points.count != position(of: slot).count {
            found.append("slot \(slot) has \(points.count) points, and others by slot")
        }

        if tiers.isEmpty {
            if !stamps.isEmpty { found.append("stamps are kept without tiers") }
            return
        }
        let stamped = (0..<stamps.count).count { stamps[$0] != 0 }
        if stamped != count { found.append("\(stamped) slots have stamps, not \(count)") }
    }
}

extension TierTree {
    /// Appends a sentence for each node whose box does not contain everything below it.
    fileprivate func checkNodes(tier: Int, _ found: inout [String]) {
        for level in 0..<levels {
            for node in 0..<nodeCount(level: level) {
                let box = NodeBox(group: group(node >> 4, level: level), lane: node & 15)
                if !holds(box, node: node, level: level) {
                    found.append("tier \(tier), level \(level): node \(node) is too small")
                }
            }
        }
    }

    private func holds(_ box: NodeBox, node: Int, level: Int) -> Bool {
        if level > 0 {
            let children = group(node, level: level - 1)
            return (0..<childCount(ofGroup: node, level: level - 1)).allSatisfy { lane in
                box.contains(NodeBox(group: children, lane: lane))
            }
        }
        return (0..<entryCount(ofLeaf: node)).allSatisfy { lane in
            let entry = Leaf(base: leaf(node)).entry(lane)
            let exact = Sphere.unitVector(entry.coordinate)
            return box.contains(exact, entry.coordinate)
        }
    }
}

extension NodeBox {
    /// Whether the box contains a point, by the point's exact unit vector and its degrees.
    fileprivate func contains(_ vector: SIMD3<Double>, _ position: Coordinate) -> Bool {
        let low = SIMD3(Double(lowX), Double(lowY), Double(lowZ))
        let high = SIMD3(Double(highX), Double(highY), Double(highZ))
        return all(low .<= vector) && all(vector .<= high)
            && Double(south) <= position.latitude && position.latitude <= Double(north)
            && Double(west) <= position.longitude && position.longitude <= Double(east)
    }
}
