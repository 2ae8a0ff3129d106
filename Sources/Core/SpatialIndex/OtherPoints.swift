import Geodesy
import PersistentStructures

/// The points of slots with several, except the first of each.
///
/// The points of a slot form a list in `links`; `heads` has its beginning.
struct OtherPoints: Sendable {
    /// The first link of each slot's list.
    private var heads = PersistentArray<UInt32>()
    private var links = PersistentArray<Link>()
    /// The first of the links that no list uses.
    private var free = Link.none
    /// The number of points.
    private(set) var count = 0

    private struct Link: BitwiseCopyable, Sendable {
        var point: Coordinate
        var next: UInt32

        static let none = UInt32.max
    }

    var memoryBytes: Int {
        MemoryLayout<Self>.size + 32 + heads.memoryBytes + links.memoryBytes
    }

    /// Sets the points of a slot that has none here.
    mutating func set(_ slot: Slot, _ points: ArraySlice<Coordinate>) {
        var next = Link.none
        for point in points.reversed() { next = add(Link(point: point, next: next)) }
        heads.set(Int(slot), next, fillingWith: Link.none)
    }

    /// - Returns: the number of the link.
    private mutating func add(_ link: Link) -> UInt32 {
        count += 1
        guard free != Link.none else {
            links.append(link)
            return UInt32(links.count - 1)
        }
        let number = free
        free = links[Int(number)].next
        links[Int(number)] = link
        return number
    }

    /// Removes the points of a slot, if it has any here.
    mutating func remove(_ slot: Slot) {
        var number = head(of: slot)
        guard number != Link.none else { return }
        heads[Int(slot)] = Link.none
        while number != Link.none {
            let next = links[Int(number)].next
            links[Int(number)].next = free
            (free, number, count) = (number, next, count - 1)
        }
    }

    /// The points of a slot, in the order in which they were set.
    func points(of slot: Slot) -> [Coordinate] {
        var points: [Coordinate] = []
        var number = head(of: slot)
        while number != Link.none {
            let link = links[Int(number)]
            points.append(link.point)
            number = link.next
        }
        return points
    }

    private func head(of slot: Slot) -> UInt32 {
        Int(slot) < heads.count ? heads[Int(slot)] : Link.none
    }
}
