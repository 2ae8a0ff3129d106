/// The objects that a watch shows, by id and in the query's order.
///
///     let set = state.objects
///     set.count, set.first, set[id: "c7"]
///
/// A ranking has the order that the service tells. Any other watch is sorted here, as the answer to
/// its query is: by the keys of the query, then by creation. A key that `fields` leaves out counts as
/// missing. Objects created in the same millisecond, or read without `_created`, are in the order
/// in which they came.
///
/// - Complexity: an event O(log n) comparisons, and O(n) moves of references; in a ranking O(n).
public struct WatchedSet<Object: Sendable>: RandomAccessCollection, Sendable {
    /// One object. Each change of it makes another instance, so that identity tells what changed.
    final class Entry: Sendable {
        let id: String
        let object: Object
        let keys: [JSONValue?]
        let created: Int64
        /// Later ones have larger numbers; a change keeps it.
        let number: Int

        init(_ item: Watched<Object>.Item, keys: [JSONValue?], created: Int64, number: Int) {
            (id, object) = (item.id, item.object)
            (self.keys, self.created, self.number) = (keys, created, number)
        }
    }

    private var entries: [Entry] = []
    private var byID: [String: Entry] = [:]
    private var numbers = 0
    private(set) var order: WatchOrder
    private let kind: Watched<Object>

    init(_ kind: Watched<Object>, order: WatchOrder) {
        (self.kind, self.order) = (kind, order)
    }

    /// Positions run from 0 to `endIndex`.
    public var startIndex: Int { 0 }
    /// The number of objects.
    public var endIndex: Int { entries.count }
    /// The object at a place of the order.
    public subscript(position: Int) -> Object { entries[position].object }

    /// The object with an id; nil if the watch does not show it.
    public subscript(id id: String) -> Object? { byID[id]?.object }

    /// The ids in the order of the objects.
    public var ids: [String] { entries.map(\.id) }

    var isRanking: Bool { order == .ranking }

    // MARK: Events

    /// Takes an object that matches: one that is held changes, any other enters.
    ///
    /// - Parameter index: its place in a ranking.
    mutating func put(_ item: Watched<Object>.Item, at index: Int?) -> WatchEvent<Object> {
        let old = byID[item.id]
        let entry = entry(item, number: old?.number ?? nextNumber())
        let former = old.map { remove($0) }
        let place = isRanking ? Swift.min(index ?? former ?? count, count) : position(for: entry)
        entries.insert(entry, at: place)
        byID[item.id] = entry
        return WatchEvent(
            kind: old == nil ? .entered : .changed, id: item.id, object: item.object,
            index: isRanking ? place : nil, previousIndex: isRanking ? former : nil)
    }

    /// Takes that an object matches no longer; nil if it was not held.
    mutating func remove(_ id: String, _ reason: LeaveReason) -> WatchEvent<Object>? {
        guard let entry = byID.removeValue(forKey: id) else { return nil }
        let place = remove(entry)
        return WatchEvent(
            kind: .left(reason), id: id, object: entry.object, index: nil,
            previousIndex: isRanking ? place : nil)
    }

    /// Takes what matches instead of what is held.
    mutating func replace(with items: [Watched<Object>.Item]) {
        let old = byID
        (entries, byID) = ([], [:])
        for item in items {
            let held = old[item.id]
            let isSame = held.map { kind.isSame($0.object, item.object) } ?? false
            let entry = isSame ? held! : entry(item, number: held?.number ?? nextNumber())
            entries.append(entry)
            byID[item.id] = entry
        }
        if !isRanking { entries.sort(by: isBefore) }
    }

    /// The events that lead from an earlier set to this one.
    ///
    /// - Parameter reasons: why objects left, by id.
    func difference(
        from old: WatchedSet, reasons: [String: LeaveReason] = [:]
    ) -> [WatchEvent<Object>] {
        let left = old.entries.filter { byID[$0.id] == nil }
        guard isRanking else {
            return left.map { Self.event(.left(reasons[$0.id] ?? .unseen), $0) }
                + entries.compactMap { entry in
                    guard let before = old.byID[entry.id] else {
                        return Self.event(.entered, entry)
                    }
                    return before === entry ? nil : Self.event(.changed, entry)
                }
        }
        var list = old.entries
        var events: [WatchEvent<Object>] = []
        for entry in left {
            let place = list.firstIndex { $0 === entry }!
            list.remove(at: place)
            events.append(Self.event(.left(reasons[entry.id] ?? .unseen), entry, nil, place))
        }
        for (place, entry) in entries.enumerated() {
            let former = list.firstIndex { $0.id == entry.id }
            let before = former.map { list.remove(at: $0) }
            list.insert(entry, at: place)
            guard let former, let before else {
                events.append(Self.event(.entered, entry, place))
                continue
            }
            if former != place || before !== entry {
                events.append(Self.event(.changed, entry, place, former))
            }
        }
        return events
    }

    private static func event(
        _ kind: WatchEvent<Object>.EventKind, _ entry: Entry, _ index: Int? = nil,
        _ former: Int? = nil
    ) -> WatchEvent<Object> {
        WatchEvent(
            kind: kind, id: entry.id, object: entry.object, index: index, previousIndex: former)
    }

    // MARK: Order

    /// Goes on in another order.
    mutating func reorder(_ order: WatchOrder) {
        guard order != self.order else { return }
        self.order = order
        guard !isRanking else { return }
        entries = entries.map { old in
            entry((old.id, old.object), number: old.number)
        }
        entries.sort(by: isBefore)
        for entry in entries { byID[entry.id] = entry }
    }

    private func entry(_ item: Watched<Object>.Item, number: Int) -> Entry {
        let object = item.object
        return Entry(
            item, keys: order.values { kind.member(object, $0) },
            created: isRanking ? 0 : kind.member(object, "_created")?.int64 ?? 0, number: number)
    }

    private mutating func nextNumber() -> Int {
        numbers += 1
        return numbers
    }

    private func isBefore(_ a: Entry, _ b: Entry) -> Bool {
        let byKeys = order.compare(a.keys, b.keys)
        return byKeys != 0 ? byKeys < 0 : (a.created, a.number) < (b.created, b.number)
    }

    /// Where an entry is, or would be, in the sorted list.
    private func position(for entry: Entry) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(entries[middle], entry) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Removes an entry that is held, and returns where it was.
    private mutating func remove(_ entry: Entry) -> Int {
        let place = isRanking ? entries.firstIndex { $0 === entry }! : position(for: entry)
        precondition(entries[place] === entry, "\(entry.id) is not at its place \(place)")
        entries.remove(at: place)
        return place
    }
}
