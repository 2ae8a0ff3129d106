import BackendContract
import JSONText
import Objects
import QueryLanguage
import Runtime

/// The objects of a bucket that satisfy a clause: found at one state, and brought up to later states
/// by looking only at what has changed.
struct DeletionSearch: Sendable {
    let clause: Clause
    let bucket: BucketName
    /// The changes that created the objects, in ascending order.
    private(set) var found: [ChangeNumber]
    /// The last change of the state at which they were found.
    private var change: ChangeNumber

    init(
        _ clause: Clause, in bucket: BucketName, on engine: Engine, within bounds: ReadBounds
    ) throws(ServiceFailure) {
        let planned = PlannedQuery(Query(clause: clause), in: bucket, on: engine)
        planned.requestColumns()
        let records = planned.state.records
        var found: [ChangeNumber] = []
        try planned.execution(within: bounds).forEachMatch {
            found.append(records[Int($0)].creation)
        }
        (self.clause, self.bucket) = (clause, bucket)
        self.found = found.sorted()
        change = planned.snapshot.change
    }

    /// Looks again at what has changed, if that is less than `limit` objects.
    ///
    /// - Returns: whether `found` is what a search of the snapshot would find; false if too much has
    ///   changed or the time is over.
    /// - Complexity: O(found + slots / 256), and a look at each changed object.
    mutating func catchUp(
        with snapshot: Snapshot, on engine: Engine, fewerThan limit: Int, until end: Deadline
    ) throws(ServiceFailure) -> Bool {
        guard snapshot.change > change else { return true }
        let state = snapshot.bucket(bucket) ?? BucketState()
        let changed = state.slots(changedAfter: change).prefix(limit)
            .map { state.records[Int($0)].creation }
        guard changed.count < limit,
            try judge(changed, in: snapshot, on: engine, until: end)
        else { return false }
        found.removeAll { !state.isAlive(created: $0) }
        change = snapshot.change
        return true
    }

    /// Looks at some objects again, whose numbers ascend.
    ///
    /// - Returns: false if the time is over. Nothing is changed then.
    mutating func judge(
        _ creations: [ChangeNumber], in snapshot: Snapshot, on engine: Engine, until end: Deadline
    ) throws(ServiceFailure) -> Bool {
        guard !creations.isEmpty else { return true }
        guard
            let matching = try matches(among: creations, in: snapshot, on: engine, until: end)
        else { return false }
        replace(creations, by: matching)
        return true
    }

    /// Nil if the time is over.
    private func matches(
        among creations: [ChangeNumber], in snapshot: Snapshot, on engine: Engine,
        until end: Deadline
    ) throws(ServiceFailure) -> [ChangeNumber]? {
        guard let view = engine.bucketView(of: bucket, in: snapshot) else { return [] }
        let state = view.state
        return try engine.parsers.withParser { parser throws(ServiceFailure) in
            var matching: [ChangeNumber] = []
            for creation in creations {
                guard let slot = state.slot(created: creation),
                    state.records[Int(slot)].isAlive,
                    state.expiries[slot] > view.expiredBy ?? .min
                else { continue }
                guard !end.isOver else { return nil }
                let document = try engine.document(
                    creation: creation, change: state.records[Int(slot)].change, in: snapshot)
                if try clause.holds(for: document, parser) { matching.append(creation) }
            }
            return matching
        }
    }

    /// Replaces some of the objects, found or not, by those of them that match. Both lists ascend.
    private mutating func replace(_ creations: [ChangeNumber], by matching: [ChangeNumber]) {
        var merged: [ChangeNumber] = []
        merged.reserveCapacity(found.count + matching.count)
        var (next, passed) = (0, 0)
        for creation in found {
            while next < matching.count, matching[next] < creation {
                merged.append(matching[next])
                next += 1
            }
            while passed < creations.count, creations[passed] < creation { passed += 1 }
            if passed == creations.count || creations[passed] != creation {
                merged.append(creation)
            }
        }
        merged += matching[next...]
        found = merged
    }
}

extension Clause {
    fileprivate func holds(
        for document: [UInt8], _ parser: JSONParser
    ) throws(ServiceFailure) -> Bool {
        do {
            return evaluate(on: try parser.parse(document)) == .yes
        } catch {
            throw ServiceFailure(.undefined, "a stored document is not JSON: \(error)")
        }
    }
}
