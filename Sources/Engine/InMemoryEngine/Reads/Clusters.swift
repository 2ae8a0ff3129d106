import Backend
import Geodesy
import JSONText
import Objects
import PersistentStructures
import QueryLanguage
import SpatialIndex

/// The answer of `bucket.clusters`: cells by row and column, each with its number of objects and
/// their mean, or with an object.
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
    /// What the bucket's objects are called; nil if nobody wants to know it.
    var state: String?

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

    func write(
        _ execution: Execution, _ query: Query, maximumBytes: Int, to writer: inout JSONWriter
    ) throws(ServiceFailure) {
        let start = writer.count
        let alone = entries.filter { $0.count == 1 }.map { Execution.Match(slot: $0.slot) }
        var objects = JSONWriter()
        let ends = try PageWriter(execution, query, alone).write(
            to: &objects, limit: maximumBytes)
        guard ends.count == alone.count else { throw tooLong(execution) }
        writer.raw("{\"change\":")
        writer.integer(execution.snapshot.change)
        if let state {
            writer.key("state")
            writer.string(state)
        }
        writer.key("total")
        writer.integer(total)
        writer.raw(",\"clusters\":[")
        objects.withBytes { texts in
            var next = 0
            writer.list(entries) { entry, writer in
                writer.raw("{\"cell\":\"")
                writeName(of: entry.cell, to: &writer)
                writer.raw("\",\"count\":")
                writer.integer(entry.count)
                if entry.count == 1 {
                    if let places = entry.places { Self.write(places, to: &writer) }
                    writer.key("object")
                    // A comma stands between two objects.
                    let begin = next == 0 ? 0 : ends[next - 1] + 1
                    writer.raw(UnsafeBufferPointer(rebasing: texts[begin..<ends[next]]))
                    next += 1
                } else {
                    writer.key("center")
                    writer.point(
                        latitude: (entry.center.latitude * 1e7).rounded() / 1e7,
                        longitude: (entry.center.longitude * 1e7).rounded() / 1e7)
                }
                writer.byte(UInt8(ascii: "}"))
            }
        }
        writer.raw("]}")
        guard writer.count - start <= maximumBytes else { throw tooLong(execution) }
    }

    private func writeName(of cell: GridCell, to writer: inout JSONWriter) {
        writer.integer(level)
        writer.byte(UInt8(ascii: "/"))
        writer.integer(cell.column)
        writer.byte(UInt8(ascii: "/"))
        writer.integer(cell.row)
    }

    private static func write(_ places: [Coordinate], to writer: inout JSONWriter) {
        writer.raw(",\"places\":[")
        writer.list(places) { place, writer in
            writer.point(latitude: place.latitude, longitude: place.longitude)
        }
        writer.byte(UInt8(ascii: "]"))
    }

    private func tooLong(_ execution: Execution) -> ServiceFailure {
        ServiceFailure(
            .queryNotSupported,
            "the objects that are alone in their cells make the answer longer than "
                + "\(execution.engine.limits.replyBytes) bytes; name fewer \"fields\"", at: "fields"
        )
    }
}
