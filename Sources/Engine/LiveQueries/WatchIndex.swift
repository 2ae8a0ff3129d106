import BackendContract
import Geodesy
import Objects
import QueryLanguage

/// The watched queries of one bucket, found by what an object is and was.
///
/// - Complexity: an object costs a search of the areas for each of its points at a watched field,
///   and a look-up for each watched field of values, whatever the number of queries.
struct WatchIndex {
    private var areas: [FieldPath: BoxIndex] = [:]
    private var values: [FieldPath: [Literal: [UInt32]]] = [:]
    private var ids: [[UInt8]: [UInt32]] = [:]
    /// The queries that are tried for each object.
    private(set) var unindexed: [UInt32] = []
    private(set) var count = 0

    /// Adds a query under a number that it does not have yet.
    ///
    /// - Parameter keys: nil if the query has to be tried for each object.
    mutating func insert(_ number: UInt32, under keys: [WatchKey]?) {
        count += 1
        guard let keys else { return unindexed.append(number) }
        for key in keys {
            switch key {
            case .id(let id): ids[id, default: []].append(number)
            case .value(let field, let literal):
                values[field, default: [:]][literal, default: []].append(number)
            case .area(let field, let box):
                areas[field, default: BoxIndex()].insert(box, of: number)
            }
        }
    }

    /// Removes a query from the keys that it was inserted under.
    mutating func remove(_ number: UInt32, under keys: [WatchKey]?) {
        count -= 1
        guard let keys else { return unindexed.removeAll { $0 == number } }
        for key in keys {
            switch key {
            case .id(let id):
                ids[id]?.removeAll { $0 == number }
                if ids[id]?.isEmpty == true { ids[id] = nil }
            case .value(let field, let literal):
                values[field]?[literal]?.removeAll { $0 == number }
                if values[field]?[literal]?.isEmpty == true { values[field]?[literal] = nil }
                if values[field]?.isEmpty == true { values[field] = nil }
            case .area(let field, let box):
                areas[field]?.remove(box, of: number)
                if areas[field]?.isEmpty == true { areas[field] = nil }
            }
        }
    }

    /// Calls `body` with every query that an object may satisfy in one of two states, perhaps several
    /// times.
    func forEachCandidate(
        of old: ObjectFacts?, _ new: ObjectFacts?, _ body: (UInt32) -> Void
    ) throws(ServiceFailure) {
        for number in unindexed { body(number) }
        for (field, boxes) in areas {
            let (before, after) = (old?.points(at: field) ?? [], new?.points(at: field) ?? [])
            if before.count == 1, after.count == 1 {
                boxes.forEachCandidate(at: before[0], or: after[0], body)
            } else {
                for point in before + after { boxes.forEachCandidate(at: point, body) }
            }
        }
        if let old { try forEachCandidate(byValuesOf: old, body) }
        if let new { try forEachCandidate(byValuesOf: new, body) }
    }

    private func forEachCandidate(
        byValuesOf facts: ObjectFacts, _ body: (UInt32) -> Void
    ) throws(ServiceFailure) {
        if !ids.isEmpty {
            for number in ids[Array(facts.object.id.text.utf8)] ?? [] { body(number) }
        }
        guard !values.isEmpty else { return }
        let view = try facts.view()
        for (field, numbers) in values {
            guard let value = field.value(in: view), let literal = Literal(value) else { continue }
            for number in numbers[literal] ?? [] { body(number) }
        }
    }
}
