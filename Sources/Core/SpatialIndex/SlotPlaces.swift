import CGlibc
import Geodesy
import PersistentStructures

/// The places of a tree's entries on the world's grid in the order of their slots, so that those of
/// a set of slots are found in one pass over memory.
///
/// - Complexity: O(n) to make; 8 bytes an entry, and 16 for each 64 slots of which some have entries.
struct SlotPlaces: Sendable {
    /// The slots that have one entry.
    let groups: [Group]
    /// The places of these entries.
    let places: [WorldGrid]
    /// The entries of slots that have several.
    let others: [(slot: Slot, place: WorldGrid)]

    /// How many groups before its turn the places of a group are fetched.
    static let groupsAhead = 4

    /// Sixty-four successive slots of which some have an entry.
    struct Group: Sendable, BitwiseCopyable {
        /// The first slot is 64 times this.
        fileprivate let number: UInt32
        /// Where the first place is.
        fileprivate let first: UInt32
        /// The slots that have an entry, one bit each.
        fileprivate var members: UInt64

        /// Has the places fetched into the cache, before `forEach` asks for them.
        @inline(__always)
        func prefetch(_ places: UnsafeBufferPointer<WorldGrid>) {
            let begin = UnsafeRawPointer(places.baseAddress! + Int(first))
            for line in stride(
                from: 0, to: members.nonzeroBitCount * MemoryLayout<WorldGrid>.stride, by: 64)
            { gb_prefetch(begin + line) }
        }

        /// Calls `body` with each slot that is in a set, and where its place is.
        @inline(__always)
        func forEach(of slots: SlotSet, _ body: (Slot, Int) -> Void) {
            var found = members & slots.word(Int(number))
            while found != 0 {
                let bit = found.trailingZeroBitCount
                found &= found - 1
                let before = members & (1 << UInt64(bit) - 1)
                body(number << 6 | Slot(bit), Int(first) + before.nonzeroBitCount)
            }
        }
    }

    /// - Parameter places: the places of the tree's entries, in the order of the leaves.
    init(_ tree: TierTree, _ places: [WorldGrid]) {
        var others: [(slot: Slot, place: WorldGrid)] = []
        // The slot in the high bits, the number of the entry in the low bits.
        var keys: [UInt64] = []
        keys.reserveCapacity(tree.count)
        for number in 0..<tree.count {
            let leaf = Leaf(base: tree.leaf(number / TierLayout.fanout))
            let lane = number % TierLayout.fanout
            if Stamp.isOneOfSeveral(leaf.stamp(lane)) {
                others.append((leaf.slot(lane), places[number]))
            } else {
                keys.append(UInt64(leaf.slot(lane)) << 32 | UInt64(number))
            }
        }
        keys.withUnsafeMutableBufferPointer { $0.radixSort(fromBit: 32, digitBits: 11) { $0 } }
        var groups: [Group] = []
        for (position, key) in keys.enumerated() {
            let slot = Slot(key >> 32)
            if groups.last?.number != slot >> 6 {
                groups.append(Group(number: slot >> 6, first: UInt32(position), members: 0))
            }
            groups[groups.count - 1].members |= 1 << UInt64(slot & 63)
        }
        self.groups = groups
        self.places = keys.map { places[Int(UInt32(truncatingIfNeeded: $0))] }
        self.others = others
    }

    var memoryBytes: Int {
        groups.capacity * MemoryLayout<Group>.stride
            + places.capacity * MemoryLayout<WorldGrid>.stride
            + others.capacity * MemoryLayout<(slot: Slot, place: WorldGrid)>.stride
    }
}
