import Geodesy
import PersistentStructures

/// A packed index while it is made, in parts that several threads may make at once.
///
///     let bulk = BulkIndex(points, deltaCapacity: 256)
///     let index = bulk.index(concurrentMap(BulkIndex.parts, bulk.part))
public struct BulkIndex: Sendable {
    private let points: BulkPoints
    private let deltaCapacity: Int

    private static let epoch = PointIndex.firstEpoch

    /// A finished part.
    public struct Part: Sendable {
        fileprivate enum Content {
            case tree(Tier)
            case slots(BySlot)
            /// So few points that an index has no tree.
            case few
        }

        fileprivate let content: Content
    }

    /// What an index has by slot.
    struct BySlot: Sendable {
        var stamps: PersistentArray<UInt32>
        var positions: SlotPositions
        /// The number of slots that have points.
        var count: Int
    }

    /// - Parameters:
    ///   - points: the points. A slot may have several.
    ///   - deltaCapacity: the number of written points that become a tree; at least 8.
    /// - Complexity: O(n) if slots ascend, otherwise O(n log n).
    public init(_ points: [(slot: Slot, coordinate: Coordinate)], deltaCapacity: Int) {
        self.points = BulkPoints(points)
        self.deltaCapacity = deltaCapacity
    }

    /// The number of parts. The first takes the longest.
    public static var parts: Int { 2 }

    /// Makes a part.
    ///
    /// - Complexity: O(n); about 0.15 and 0.05 microseconds a point, the first with 16 bytes of
    ///   scratch memory a point.
    public func part(_ number: Int) -> Part {
        if isSmall { return Part(content: .few) }
        return Part(content: number == 0 ? .tree(tree) : .slots(bySlot))
    }

    /// The index of all parts, in their order.
    public func index(_ parts: [Part]) -> PointIndex {
        guard case .tree(let tree) = parts[0].content, case .slots(let slots) = parts[1].content
        else { return small }
        return PointIndex(slots, tree, deltaCapacity: deltaCapacity)
    }

    private var isSmall: Bool {
        points.all.count < PointIndex.smallestTree(deltaCapacity: deltaCapacity)
    }

    private var small: PointIndex {
        var index = PointIndex(deltaCapacity: deltaCapacity)
        index.delta.reserveCapacity(points.all.count)
        points.forEachSlot { slot, points in index.insert(points.map(\.coordinate), for: slot) }
        return index
    }

    private var tree: Tier {
        let several = points.slotsWithSeveral
        return points.all.withUnsafeBufferPointer { points in
            Tier(
                points, position: { ($0.coordinate.latitude, $0.coordinate.longitude) },
                entry: {
                    let isOneOfSeveral = several.contains($0.slot)
                    return Entry(
                        slot: $0.slot,
                        stamp: isOneOfSeveral ? Self.epoch | Stamp.several : Self.epoch,
                        coordinate: $0.coordinate)
                })
        }
    }

    private var bySlot: BySlot {
        let all = points.all
        let slots = Int(all[all.count - 1].slot) + 1
        var found = BySlot(
            stamps: byPoint(slots, of: all, else: 0) { _ in Self.epoch },
            positions: SlotPositions(
                first: byPoint(slots, of: all, else: SlotPositions.nowhere) { $0.coordinate }),
            count: all.count)
        guard points.hasSeveral else { return found }
        found.count = 0
        points.forEachSlot { slot, points in
            found.count += 1
            guard points.count > 1 else { return }
            found.stamps[Int(slot)] |= Stamp.several
            found.positions.set(slot, points.map(\.coordinate))
        }
        return found
    }

    /// A value for each slot that has points, and another for the rest.
    @inline(__always)
    private func byPoint<Value>(
        _ slots: Int, of points: [BulkPoints.Point], else nothing: Value,
        _ value: (BulkPoints.Point) -> Value
    ) -> PersistentArray<Value> {
        var next = 0
        return PersistentArray(count: slots) { first, chunk in
            chunk.initialize(repeating: nothing)
            while next < points.count, Int(points[next].slot) - first < chunk.count {
                chunk[Int(points[next].slot) - first] = value(points[next])
                next += 1
            }
        }
    }
}
