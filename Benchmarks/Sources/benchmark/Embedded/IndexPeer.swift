import Geodesy
import PersistentStructures
import SpatialIndex
import SyntheticData
import Workloads

/// The bare spatial index, with categories and ratings in arrays beside it: no documents, no ids.
/// The limit of what an engine on this index can do.
final class IndexPeer: EmbeddedPeer {
    let name = "index"
    let title = "bare index, in process"
    let version = "PointIndex"
    private let index: PointIndex
    private let dataset: Dataset

    init(_ index: PointIndex, _ dataset: Dataset) {
        self.index = index
        self.dataset = dataset
    }

    func load(_ dataset: Dataset) -> LoadFacts {
        var facts = LoadFacts()
        var count = 0
        facts.loadSeconds = seconds { count = dataset.index().count }
        facts.memoryBytesPerObject = Double(index.memoryBytes) / Double(count)
        facts.note = "the index alone"
        return facts
    }

    func answer(_ workload: Workload, _ queries: [WorkloadQuery]) -> ((Int) throws -> Int)? {
        search(workload).map { search in { search(queries[$0]) } }
    }

    private func search(_ workload: Workload) -> ((WorkloadQuery) -> Int)? {
        let index = index
        switch workload {
        case .q1:
            return { query in
                var hits = 0
                var sum = 0.0
                let circle = query.circle
                index.visit(in: .circle(circle), by: circle.distance) {
                    hits += $0.count
                    for point in $0 { sum += point.distance.meters }
                    return true
                }
                return sum >= 0 ? hits : 0
            }
        case .q2: return { Self.nearest(index, $0, $0.radiusMeters, limit: 50) }
        case .q3, .q11:
            return { query in
                var hits = 0
                index.visit(in: .box(query.box)) { _, _ in
                    hits += 1
                    return true
                }
                return hits
            }
        case .q4:
            return { [dataset] query in
                Self.nearest(index, query, query.radiusMeters, limit: 20) {
                    Self.matches($0, query, dataset)
                }
            }
        case .q5: return { Self.nearest(index, $0, .infinity, limit: 10) }
        case .q7:
            return { [dataset] query in
                var slots: [Slot] = []
                index.append(in: .circle(query.circle), to: &slots)
                return slots.count { Self.matches($0, query, dataset) }
            }
        case .q9: return { query in query.corridor.map { Self.nearest(index, $0, limit: 50) } ?? 0 }
        case .q10:
            return { [dataset] query in
                var slots: [Slot] = []
                index.append(in: .circle(query.circle), to: &slots)
                var counts = Array(repeating: 0, count: Dataset.categoryNames.count)
                for slot in slots where dataset.ratings[Int(slot)] >= Workload.leastRating {
                    counts[Int(dataset.categories[Int(slot)])] += 1
                }
                return counts.reduce(0, +)
            }
        case .q6, .q8: return nil
        }
    }

    @inline(__always)
    private static func nearest(
        _ index: PointIndex, _ query: WorkloadQuery, _ radiusMeters: Double, limit: Int,
        _ matches: ((Slot) -> Bool)? = nil
    ) -> Int {
        var walk = index.nearest(
            by: query.circle.distance, within: radiusMeters, atMost: matches == nil ? limit : nil)
        var hits = 0
        while hits < limit, let next = walk.next() {
            if matches?(next.slot) ?? true { hits += 1 }
        }
        return hits
    }

    /// A corridor is not walked in order: all its points are measured, and sorted.
    private static func nearest(
        _ index: PointIndex, _ corridor: GeoCorridor, limit: Int
    ) -> Int {
        var points: [MeasuredPoint] = []
        index.visit(in: .corridor(corridor), by: corridor.distance) {
            points += $0
            return true
        }
        return points.sorted().prefix(limit).count
    }

    @inline(__always)
    private static func matches(_ slot: Slot, _ query: WorkloadQuery, _ dataset: Dataset) -> Bool {
        Int(dataset.categories[Int(slot)]) == query.category
            && dataset.ratings[Int(slot)] >= Workload.leastRating
    }
}
