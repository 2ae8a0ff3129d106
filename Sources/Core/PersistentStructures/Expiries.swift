/// The expiry times of a bucket's objects, by slot.
///
/// This is a tree of minima with 64 children to a node. Its root is the next expiry time, and a
/// descent finds the expired slots. It takes no memory until an object has an expiry time, and then
/// eight bytes a slot.
///
/// - Complexity: `set` is O(64 log₆₄ n); `forEach(until:)` costs that for each slot it finds.
public struct Expiries: Sendable {
    /// The time of slots whose objects never expire.
    @inlinable public static var never: Int64 { .max }

    /// The times by slot, then the minima of 64 slots each, and so on. The last level has one
    /// element.
    @usableFromInline
    var levels: [PersistentArray<Int64>] = []

    private static let children = 64

    /// No object expires.
    package init() {}

    /// The time of the next expiry; `never` if no object expires.
    @inlinable
    public var next: Int64 { levels.last?[0] ?? Self.never }

    /// The memory of the tree in bytes, as if it shared nothing with its copies.
    package var memoryBytes: Int { levels.reduce(0) { $0 + $1.memoryBytes } }

    /// The time at which a slot's object expires, in milliseconds since 1970.
    @inlinable
    public subscript(slot: Slot) -> Int64 {
        guard let times = levels.first, slot < times.count else { return Self.never }
        return times[Int(slot)]
    }

    /// Sets the time at which a slot's object expires.
    package mutating func set(_ slot: Slot, _ time: Int64) {
        guard self[slot] != time else { return }
        if levels.isEmpty { levels = [PersistentArray()] }
        var (position, time) = (Int(slot), time)
        for level in 0... {
            levels[level].set(position, time, fillingWith: Self.never)
            if level == levels.count - 1 {
                guard levels[level].count > 1 else { return }
                levels.append(PersistentArray())
                levels[level + 1].append(least(of: 0, in: level))
            }
            position /= Self.children
            time = least(of: position, in: level)
        }
    }

    /// Calls `body` with each slot whose object has expired at a time.
    package func forEach(until now: Int64, _ body: (Slot) -> Void) {
        guard next <= now else { return }
        visit(0, in: levels.count - 1, now, body)
    }

    private func visit(_ position: Int, in level: Int, _ now: Int64, _ body: (Slot) -> Void) {
        guard levels[level][position] <= now else { return }
        guard level > 0 else { return body(Slot(position)) }
        for child in children(of: position, in: level - 1) {
            visit(child, in: level - 1, now, body)
        }
    }

    /// The time of the first expiry after a time; `never` if there is none.
    ///
    /// - Complexity: that of `forEach(until:)`.
    package func next(after now: Int64) -> Int64 {
        levels.isEmpty ? Self.never : first(after: now, below: 0, in: levels.count - 1)
    }

    private func first(after now: Int64, below position: Int, in level: Int) -> Int64 {
        let least = levels[level][position]
        if least > now { return least }
        guard level > 0 else { return Self.never }
        return children(of: position, in: level - 1).reduce(Self.never) {
            min($0, first(after: now, below: $1, in: level - 1))
        }
    }

    private func least(of node: Int, in level: Int) -> Int64 {
        children(of: node, in: level).reduce(Self.never) { min($0, levels[level][$1]) }
    }

    private func children(of node: Int, in level: Int) -> Range<Int> {
        let first = node * Self.children
        return first..<min(first + Self.children, levels[level].count)
    }

    /// One sentence for each broken invariant.
    package func violations() -> [String] {
        guard levels.count > 1 else { return [] }
        return (1..<levels.count).flatMap { level in
            (0..<levels[level].count).filter { levels[level][$0] != least(of: $0, in: level - 1) }
                .map { "expiries: node \($0) of level \(level) has not the least of its children" }
        }
    }
}
