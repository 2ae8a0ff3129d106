import Geodesy
import JSONText
import Objects
import WebExchange
import Wire

/// Where the points of a collection are.
extension FeatureExchange {
    /// The collection's extent: a box that has every point, and reaches beyond them by a few
    /// hundredths of its size at most, from counts by the cells of a grid; nil if there are none.
    ///
    /// - Complexity: a look at the index for each of about five levels.
    func extent(of bucket: BucketName, _ field: FieldPath) async throws(WebFailure) -> JSONValue? {
        // So many halvings of a side leave no more cells than one answer may have.
        let cells = site.operations.limits.clusterCells
        var level = min(8, (Int.bitWidth - cells.leadingZeroBitCount - 1) / 2)
        guard var window = try await window(of: bucket, field, level: level, in: nil) else {
            return nil
        }
        while level < WorldGrid.finestLevel {
            var finer = level
            let (rows, columns) = (window.rows.count, window.columns.count)
            while finer < WorldGrid.finestLevel,
                (rows << (finer + 1 - level)) * (columns << (finer + 1 - level)) <= cells
            { finer += 1 }
            guard finer > level,
                let next = try await self.window(of: bucket, field, level: finer, in: window)
            else { break }
            (level, window) = (finer, next)
        }
        let box = window.enclosingBox
        let sides = [box.west, box.south, box.east, box.north].map { JSONValue.double($0) }
        return .object([
            "spatial": .object([
                "bbox": .array([.array(sides)]), "crs": .string(ItemsQuery.crs84),
            ])
        ])
    }

    /// The rows and columns of a level between the outermost cells that have points.
    private func window(
        of bucket: BucketName, _ field: FieldPath, level: Int, in outer: GridWindow?
    ) async throws(WebFailure) -> GridWindow? {
        let answer = try await call(.clusters) { writer in
            writer.raw("{")
            writer.key("bucket")
            writer.string(bucket.text)
            writer.key("field")
            writer.string(field.utf8)
            writer.key("zoom")
            writer.integer(max(0, level - 8))
            writer.key("bits")
            writer.integer(min(level, 8))
            if let outer {
                let box = outer.enclosingBox
                writer.key("box")
                writer.raw("{\"sw\":")
                writer.point(latitude: box.south, longitude: box.west)
                writer.key("ne")
                writer.point(latitude: box.north, longitude: box.east)
                writer.raw("}")
            }
            writer.key("fields")
            writer.raw("[]}")
        }
        let cells = try reading(answer) { view in
            (view["clusters"].map { Array($0.elements) } ?? []).compactMap {
                Self.cell($0["cell"]?.string ?? "")
            }
        }
        let (columns, rows) = (cells.map(\.column), cells.map(\.row))
        guard let west = columns.min(), let east = columns.max(), let north = rows.min(),
            let south = rows.max()
        else { return nil }
        return GridWindow(
            level: level, meeting: Self.box(from: (west, north), to: (east, south), level))
    }

    /// The cell of `9/454/201`.
    private static func cell(_ text: String) -> GridCell? {
        let parts = text.split(separator: "/").compactMap { UInt32($0) }
        return parts.count == 3 ? GridCell(column: parts[1], row: parts[2]) : nil
    }

    /// A box between the middles of two cells.
    private static func box(
        from northWest: (UInt32, UInt32), to southEast: (UInt32, UInt32), _ level: Int
    ) -> GeoBox {
        func middle(_ cell: (UInt32, UInt32)) -> Coordinate {
            let side = Double(UInt64(1) << UInt64(WorldGrid.finestLevel - level))
            return WorldGrid.place(
                x: (Double(cell.0) + 0.5) * side, y: (Double(cell.1) + 0.5) * side)
        }
        let (a, b) = (middle(northWest), middle(southEast))
        return GeoBox(south: b.latitude, west: a.longitude, north: a.latitude, east: b.longitude)
    }
}
