import Geodesy
import QueryLanguage
import WebExchange

/// A tile of the world's grid, and the plane of its own in which its geometry lies.
package struct TileAddress: Sendable, Hashable {
    let zoom: Int
    let column: UInt32
    let row: UInt32

    /// The levels of cells below a tile's: its side has 32 cells.
    static let bits = 5
    /// The width of a tile in units of its own.
    static let extent = 4_096
    /// From this zoom on objects stand alone.
    private static let objectZoom = 18
    /// A tile with no more objects than this has all of them.
    private static let objectsOfTile = 500

    /// A tile by the texts of an address.
    package init(_ zoom: String, _ column: String, _ row: String) throws(WebFailure) {
        let zooms = ClusterQuery.zooms
        guard let level = Self.number(zoom).map(Int.init), zooms.contains(level) else {
            throw .invalid("expected a zoom of \(zooms.lowerBound) to \(zooms.upperBound)", at: "z")
        }
        self.zoom = level
        let last = UInt32(1) << UInt32(level) - 1
        guard let x = Self.number(column), x <= last else {
            throw .invalid("expected a column of 0 to \(last) at zoom \(level)", at: "x")
        }
        guard let y = Self.number(row), y <= last else {
            throw .invalid("expected a row of 0 to \(last) at zoom \(level)", at: "y")
        }
        (self.column, self.row) = (x, y)
    }

    /// The number that digits alone spell, without leading zeros: a tile has one address.
    private static func number(_ text: String) -> UInt32? {
        guard let number = UInt32(text), String(number) == text else { return nil }
        return number
    }

    /// The tile as `bucket.clusters` calls it.
    package var name: String { "\(zoom)/\(column)/\(row)" }

    /// The number of objects up to which the tile has objects alone.
    ///
    /// - Parameter limit: the most cells or objects that one answer may have.
    func listedObjects(atMost limit: Int) -> Int {
        zoom >= Self.objectZoom ? limit : min(limit, Self.objectsOfTile)
    }

    /// Where a place of a cell lies in the tile, in units of the tile and within the cell.
    func position(of place: Coordinate, in cell: GridCell) -> TilePoint {
        // Exact, for both are powers of two.
        let unitsPerColumn = Double(1 << zoom) * Double(Self.extent) / WorldGrid.size
        let point = WorldGrid.point(of: place)
        let side = Self.extent >> Self.bits
        func unit(_ position: Double, _ tile: UInt32, _ cell: UInt32) -> Int {
            let first = Int(cell - tile << UInt32(Self.bits)) * side
            let unit = position * unitsPerColumn - Double(tile) * Double(Self.extent)
            return min(max(Int(unit.rounded(.down)), first), first + side - 1)
        }
        return TilePoint(x: unit(point.x, column, cell.column), y: unit(point.y, row, cell.row))
    }
}

/// A point in units of a tile, from its north-western corner.
struct TilePoint: Hashable {
    let x: Int
    let y: Int
}
