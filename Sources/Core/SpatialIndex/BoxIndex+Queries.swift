import Geodesy
import PersistentStructures

extension BoxIndex {
    /// Calls `body` once with each slot that has a box which meets this one, until it returns false.
    ///
    /// Whether the slot's place itself meets the box is sure where a piece of which all lies in the place
    /// does; otherwise it is to be told.
    ///
    /// - Parameter isOver: asked now and then; true ends the search.
    public func visit(
        meeting box: GeoBox, until isOver: () -> Bool = { false },
        _ body: (_ slot: Slot, _ isSure: Bool) -> Bool
    ) {
        let window = DegreeWindow(box)
        var several: [Slot: Bool] = [:]
        var pace = Pace()
        func look(_ entry: BoxEntry) -> Bool {
            guard !pace.isOver(isOver) else { return false }
            let isSure = entry.isWhole && box.certainlyMeets(entry.box)
            guard Stamp.isOneOfSeveral(entry.stamp) else { return body(entry.slot, isSure) }
            several[entry.slot] = isSure || several[entry.slot] ?? false
            return true
        }
        for entry in delta where window.touches(entry.box) {
            guard look(entry) else { return }
        }
        for record in tiers {
            let isWhole = record.tier.search(window) { entry in
                guard record.dead == 0 || stamps[Int(entry.slot)] == entry.stamp else {
                    return true
                }
                return look(entry)
            }
            guard isWhole else { return }
        }
        for (slot, isSure) in several {
            guard !pace.isOver(isOver), body(slot, isSure) else { return }
        }
    }

    /// Calls `body` once with each slot that has a box which holds a position, as for a box.
    public func visit(
        holding position: Coordinate, until isOver: () -> Bool = { false },
        _ body: (_ slot: Slot, _ isSure: Bool) -> Bool
    ) {
        let box = GeoBox(
            south: position.latitude, west: position.longitude, north: position.latitude,
            east: position.longitude)
        visit(meeting: box, until: isOver, body)
    }

    /// About how many boxes meet this one.
    ///
    /// - Complexity: O(tiers); at most 64 groups of nodes are opened in each.
    public func estimate(meeting box: GeoBox) -> Int {
        let window = DegreeWindow(box)
        var total = Double(delta.count { window.touches($0.box) })
        for record in tiers {
            var budget = 64
            let share = Double(record.live) / Double(record.tier.count)
            total += record.tier.estimate(window, budget: &budget) * share
        }
        return Int(total.rounded(.up))
    }

    /// A walk over the slots in the order of the distance of their places from a position.
    ///
    /// - Parameters:
    ///   - radiusMeters: places that are farther are passed over.
    ///   - after: the walk begins directly after this pair.
    public func nearest(
        to position: Coordinate, within radiusMeters: Double = .infinity,
        after: MeasuredPoint? = nil
    ) -> BoxWalk {
        BoxWalk(self, position, radiusMeters: radiusMeters, after: after)
    }
}
