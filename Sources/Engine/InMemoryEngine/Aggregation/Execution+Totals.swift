import JSONText
import Objects
import PersistentStructures
import QueryLanguage

extension Execution {
    /// Adds every match to some totals, in no particular order.
    func add(to totals: inout Totals) throws(ServiceFailure) {
        try forEachCandidates(after: nil) { slots throws(ServiceFailure) in
            let passed = Slots(rebasing: slots[..<plan.filter.select(slots, &budget)])
            let count = try addDocuments(of: passed, to: &totals)
            noteMatches(count)
            try totals.add(Slots(rebasing: passed[..<count]))
            return true
        }
    }

    /// Reads the documents of a batch, if they decide or are aggregated, and moves the matches to the
    /// front.
    ///
    /// - Returns: the number of matches.
    private func addDocuments(
        of slots: Slots, to totals: inout Totals
    ) throws(ServiceFailure) -> Int {
        guard plan.readsDocuments else { return slots.count }
        var count = 0
        _ = try forEachView(of: slots) { slot, view throws(ServiceFailure) in
            guard plan.documentFilter.evaluate(on: view) == .yes else { return true }
            slots[count] = slot
            count += 1
            totals.add(view)
            return true
        }
        return count
    }
}
