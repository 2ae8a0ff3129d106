import BackendContract
import Geodesy
import JSONText
import Objects
import PersistentStructures
import QueryLanguage
import SpatialIndex

/// The cells of a tally by row and column, or the objects one by one, as they become an answer.
struct Clusters {
    private struct Entry {
        let cell: GridCell
        let count: Int
        /// The mean of the places if there are several objects.
        let center: Coordinate
        /// The object, if there is one.
        let slot: Slot
        /// The object's places in the cell; nil if nobody wants to know them.
        var places: [Coordinate]?
    }

    private var entries: [Entry]
    private let level: Int
    let total: Int

    init(_ tally: borrowing GridTally) {
        entries = tally.sorted().map { cell, sum in
            Entry(cell: cell, count: sum.count, center: sum.center, slot: sum.slot)
        }
        level = tally.window.level
        total = entries.reduce(0) { $0 + $1.count }
    }

    /// Takes an entry for each object of each cell in place of those of the cells.
    ///
    /// - Parameter slots: the matches in the window, and perhaps some others.
    mutating func list(_ slots: [Slot], at window: GridWindow, of index: PointIndex) {
        entries = []
        for slot in slots {
            let places = Dictionary(grouping: index.position(of: slot).points) {
                WorldGrid($0).cell(level: level)
            }
            for (cell, places) in places where window.contains(cell) {
                entries.append(
                    Entry(cell: cell, count: 1, center: places[0], slot: slot, places: places))
            }
        }
        entries.sort { ($0.cell, $0.slot) < ($1.cell, $1.slot) }
    }

    /// Finds the places of the objects that are alone in their cells.
    mutating func locate(_ index: PointIndex) {
        for position in entries.indices where entries[position].count == 1 {
            let entry = entries[position]
            entries[position].places = index.position(of: entry.slot).points.filter {
                WorldGrid($0).cell(level: level) == entry.cell
            }
        }
    }

    /// The answer.
    ///
    /// - Parameters:
    ///   - state: what the bucket's objects are called; nil if nobody wants to know it.
    ///   - maximumBytes: of the objects in it.
    func answer(
        _ execution: Execution, state: String?, maximumBytes: Int
    ) throws(ServiceFailure) -> ClusterAnswer {
        let alone = entries.filter { $0.count == 1 }.map { Execution.Match(slot: $0.slot) }
        var objects = JSONWriter()
        let ends = try PageWriter(execution, alone).write(to: &objects, limit: maximumBytes)
        guard ends.count == alone.count else {
            throw .tooManyAlone(maximumBytes: execution.engine.limits.replyBytes)
        }
        var (next, begin) = (0, 0)
        let clusters = entries.map { entry in
            guard entry.count == 1 else {
                return ClusterAnswer.Cluster(
                    entry.cell, count: entry.count, .center(entry.center.roundedToAnswer))
            }
            let range = begin..<ends[next]
            // A comma stands between two objects.
            (next, begin) = (next + 1, ends[next] + 1)
            return ClusterAnswer.Cluster(
                entry.cell, count: 1, .object(range, places: entry.places))
        }
        return ClusterAnswer(
            change: execution.snapshot.change, state: state, level: level, clusters: clusters,
            objects: objects.bytes)
    }
}

extension Coordinate {
    /// The same to seven decimals.
    fileprivate var roundedToAnswer: Coordinate {
        Coordinate(
            latitude: (latitude * 1e7).rounded() / 1e7,
            longitude: (longitude * 1e7).rounded() / 1e7)
    }
}

extension ServiceFailure {
    /// An answer that would be longer than a reply may be.
    static func tooManyAlone(maximumBytes: Int) -> ServiceFailure {
        ServiceFailure(
            .queryNotSupported,
            "the objects that are alone in their cells make the answer longer than "
                + "\(maximumBytes) bytes; name fewer \"fields\"", at: "fields")
    }
}
