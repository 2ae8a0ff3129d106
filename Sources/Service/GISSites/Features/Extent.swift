import Geodesy
import JSONText
import Objects
import QueryLanguage
import ServiceDesk
import Synchronization
import WebExchange

/// The extents of collections at the last state at which somebody asked for them.
final class ExtentCache: Sendable {
    typealias Known = (state: String, extent: JSONValue?)

    /// What all may take; above it all are forgotten.
    private static let maximumBytes = 8 * 1_048_576

    private let kept = Mutex((extents: [CollectionName: Known](), bytes: 0))

    subscript(name: CollectionName) -> Known? { kept.withLock { $0.extents[name] } }

    func keep(_ known: Known, of name: CollectionName) {
        // An extent's own memory does not depend on the names, which are a client's choice.
        let bytes = 1_024 + name.bucket.text.utf8.count + (name.field?.utf8.count ?? 0)
        kept.withLock { kept in
            if kept.extents[name] == nil { kept.bytes += bytes }
            if kept.bytes > Self.maximumBytes { kept = ([:], bytes) }
            kept.extents[name] = known
        }
    }
}

/// Where the points of a collection are.
extension FeatureExchange {
    /// The collection's extent: a box that has every point, and reaches beyond them by a few
    /// hundredths of its size at most, from counts by the cells of a grid; nil if there are none.
    ///
    /// - Complexity: a look at the index for each of about five levels; next to nothing if the objects are
    ///   those that were there when it was asked for before.
    func extent(of bucket: BucketName, _ field: FieldPath) async throws(WebFailure) -> JSONValue? {
        let name = CollectionName(bucket, field: field)
        let known = site.extents[name]
        // So many halvings of a side leave no more cells than one answer may have.
        let cells = site.operations.limits.clusterCells
        var level = min(8, (Int.bitWidth - cells.leadingZeroBitCount - 1) / 2)
        let first = try await clusters(
            of: bucket, field, level: level, in: nil, unless: known?.state ?? "")
        if first.clusters == nil, let known { return known.extent }
        let state = first.state ?? ""
        guard var window = Self.window(around: first) else {
            site.extents.keep((state, nil), of: name)
            return nil
        }
        while level < WorldGrid.finestLevel {
            var finer = level
            let (rows, columns) = (window.rows.count, window.columns.count)
            while finer < WorldGrid.finestLevel,
                (rows << (finer + 1 - level)) * (columns << (finer + 1 - level)) <= cells
            { finer += 1 }
            guard finer > level,
                let next = Self.window(
                    around: try await clusters(of: bucket, field, level: finer, in: window))
            else { break }
            (level, window) = (finer, next)
        }
        let box = window.enclosingBox
        let sides = [box.west, box.south, box.east, box.north].map { JSONValue.double($0) }
        let extent = JSONValue.object([
            "spatial": .object([
                "bbox": .array([.array(sides)]), "crs": .string(ItemsQuery.crs84),
            ])
        ])
        site.extents.keep((state, extent), of: name)
        return extent
    }

    /// The cells of a level that have points.
    ///
    /// - Parameter state: if that is the bucket's state, there is no more in the answer.
    private func clusters(
        of bucket: BucketName, _ field: FieldPath, level: Int, in outer: GridWindow?,
        unless state: String? = nil
    ) async throws(WebFailure) -> ClusterAnswer {
        let query = ClusterQuery(
            field: field,
            window: outer.map { GridWindow(level: level, meeting: $0.enclosingBox) }
                ?? GridWindow(level: level),
            fields: [], knownState: state)
        return try await site.operations.ask(.clusters(query, in: bucket), from: caller)
    }

    /// The rows and columns between the outermost cells of an answer; nil if it has none.
    private static func window(around answer: ClusterAnswer) -> GridWindow? {
        let cells = (answer.clusters ?? []).map(\.cell)
        let (columns, rows) = (cells.map(\.column), cells.map(\.row))
        guard let west = columns.min(), let east = columns.max(), let north = rows.min(),
            let south = rows.max()
        else { return nil }
        return GridWindow(
            level: answer.level, from: GridCell(column: west, row: north),
            to: GridCell(column: east, row: south))
    }
}
