import Geodesy
import JSONText
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
    /// The units beside a tile that a program may ask for.
    static let buffers = 0...256
    /// The width of a cell in units.
    private static let side = extent >> bits
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
    static func number(_ text: String) -> UInt32? {
        guard let number = UInt32(text), String(number) == text else { return nil }
        return number
    }

    /// The tile as `bucket.clusters` calls it.
    package var name: String { "\(zoom)/\(column)/\(row)" }

    /// The tile's cells, and those beside it of which some units count.
    func window(buffer: Int) -> GridWindow {
        let margin = (buffer + Self.side - 1) / Self.side
        let (cells, world) = (1 << Self.bits, 1 << (zoom + Self.bits))
        let (west, north) = (Int(column) * cells - margin, Int(row) * cells - margin)
        let last = cells + 2 * margin - 1
        let isRound = last + 1 >= world
        // The world goes on in the east and the west.
        func cell(_ column: Int, _ row: Int) -> GridCell {
            GridCell(
                column: UInt32((column + world) % world),
                row: UInt32(min(max(row, 0), world - 1)))
        }
        return GridWindow(
            level: zoom + Self.bits, from: cell(isRound ? 0 : west, north),
            to: cell(isRound ? world - 1 : west + last, north + last))
    }

    /// The number of objects up to which the tile has objects alone.
    ///
    /// - Parameter limit: the most cells or objects that one answer may have.
    func listedObjects(atMost limit: Int) -> Int {
        zoom >= Self.objectZoom ? limit : min(limit, Self.objectsOfTile)
    }

    /// Where a place of a cell lies in the tile or beside it, in units of the tile and within the cell;
    /// in several places where the world is no wider than tile and buffer.
    ///
    /// - Parameter buffer: units beside the tile that count.
    func positions(of place: Coordinate, in cell: GridCell, buffer: Int) -> [TilePoint] {
        // Exact, for both are powers of two.
        let unitsPerColumn = Double(1 << zoom) * Double(Self.extent) / WorldGrid.size
        let point = WorldGrid.point(of: place)
        let world = Self.extent << zoom
        func unit(_ position: Double, _ tile: UInt32, _ cell: UInt32) -> Int {
            let first = (Int(cell) - Int(tile) << Self.bits) * Self.side
            let unit = position * unitsPerColumn - Double(tile) * Double(Self.extent)
            return min(max(Int(unit.rounded(.down)), first), first + Self.side - 1)
        }
        let (x, y) = (unit(point.x, column, cell.column), unit(point.y, row, cell.row))
        let near = -buffer..<Self.extent + buffer
        guard near.contains(y) else { return [] }
        return [x - world, x, x + world].filter(near.contains).map { TilePoint(x: $0, y: y) }
    }
}

/// A point in units of a tile, from its north-western corner.
struct TilePoint: Hashable {
    let x: Int
    let y: Int
}
