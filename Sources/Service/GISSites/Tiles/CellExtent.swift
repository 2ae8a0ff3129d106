import Geodesy
import QueryLanguage

/// Rows and columns of one level that have all cells with objects.
struct CellExtent {
    private let level: Int
    private let columns: ClosedRange<UInt32>
    private let rows: ClosedRange<UInt32>

    /// An extent of as many cells each way is fine enough.
    private static let fineCells = 12
    /// The level beyond which none is asked for; its cells are 611 m wide at the equator.
    private static let lastLevel = 16

    /// The extent of the clusters; nil if there are none.
    init?(_ answer: ClusterAnswer) {
        let cells = answer.clusters?.map(\.cell) ?? []
        guard !cells.isEmpty else { return nil }
        level = answer.level
        let (x, y) = (cells.map(\.column), cells.map(\.row))
        columns = x.min()!...x.max()!
        rows = y.min()!...y.max()!
    }

    private var span: Int { max(columns.count, rows.count) }

    /// Whether finer cells would tell more.
    var isCoarse: Bool { span <= Self.fineCells && level < Self.lastLevel }

    /// Finer cells of the extent.
    var finerWindow: GridWindow {
        var finer = level
        while finer < Self.lastLevel, span << (finer - level) <= Self.fineCells { finer += 1 }
        let (west, south, east, north) = bounds
        return GridWindow(
            level: finer,
            meeting: GeoBox(
                south: max(-90, south), west: west, north: min(90, north), east: east))
    }

    /// The edges in degrees.
    var bounds: (west: Double, south: Double, east: Double, north: Double) {
        let side = Double(1 << (WorldGrid.finestLevel - level))
        func corner(_ column: UInt32, _ row: UInt32, _ end: Double) -> Coordinate {
            WorldGrid.place(
                x: (Double(column) + end) * side, y: (Double(row) + end) * side)
        }
        let northWest = corner(columns.lowerBound, rows.lowerBound, 0)
        let southEast = corner(columns.upperBound, rows.upperBound, 1)
        return (northWest.longitude, southEast.latitude, southEast.longitude, northWest.latitude)
    }
}
