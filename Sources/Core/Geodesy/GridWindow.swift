/// Rows and columns of one level of the world's grid: all of its cells, or those that a box meets.
public struct GridWindow: Sendable, Equatable {
    /// The level, 0 to `WorldGrid.finestLevel`.
    public let level: Int
    /// The rows.
    public let rows: ClosedRange<UInt32>
    /// The columns, or the eastern ones if the window lies over the antimeridian.
    public let columns: ClosedRange<UInt32>
    /// The columns beyond the antimeridian, which begin at 0.
    public let columnsBeyond: ClosedRange<UInt32>?

    /// Every cell of a level.
    public init(level: Int) {
        self.init(level, rows: Self.all(level), columns: Self.all(level))
    }

    /// The cells of a level that a box meets.
    ///
    /// A box that ends at longitude 180 also meets the first column, which begins there.
    public init(level: Int, meeting box: GeoBox) {
        let northWest = WorldGrid(latitude: box.north, longitude: box.west).cell(level: level)
        let southEast = WorldGrid(latitude: box.south, longitude: box.east).cell(level: level)
        let rows = northWest.row...southEast.row
        let all = Self.all(level)
        if box.west == -180 && box.east == 180 {
            self.init(level, rows: rows, columns: all)
        } else if box.west != 180 && (box.east == 180 || box.crossesAntimeridian) {
            self.init(
                level, rows: rows, columns: northWest.column...all.upperBound,
                beyond: 0...southEast.column)
        } else {
            self.init(level, rows: rows, columns: northWest.column...southEast.column)
        }
    }

    /// The cells of one tile.
    ///
    /// - Parameter bits: the levels of cells below the tile's; its side has 2^bits of them.
    public init(tile: GridCell, zoom: Int, bits: Int) {
        func cells(_ number: UInt32) -> ClosedRange<UInt32> {
            number << UInt32(bits)...(number + 1) << UInt32(bits) - 1
        }
        self.init(zoom + bits, rows: cells(tile.row), columns: cells(tile.column))
    }

    /// The cells of a level between two corners. A western column behind the eastern one leads over the
    /// antimeridian.
    public init(level: Int, from northWest: GridCell, to southEast: GridCell) {
        let rows = northWest.row...southEast.row
        if northWest.column <= southEast.column {
            self.init(level, rows: rows, columns: northWest.column...southEast.column)
        } else {
            self.init(
                level, rows: rows, columns: northWest.column...Self.all(level).upperBound,
                beyond: 0...southEast.column)
        }
    }

    private init(
        _ level: Int, rows: ClosedRange<UInt32>, columns: ClosedRange<UInt32>,
        beyond: ClosedRange<UInt32>? = nil
    ) {
        let isConnected = beyond.map { $0.upperBound + 1 >= columns.lowerBound } ?? false
        (self.level, self.rows) = (level, rows)
        self.columns = isConnected ? Self.all(level) : columns
        columnsBeyond = isConnected ? nil : beyond
    }

    private static func all(_ level: Int) -> ClosedRange<UInt32> { 0...UInt32((1 << level) - 1) }

    /// Whether a cell of its level lies in the window.
    @inlinable
    public func contains(_ cell: GridCell) -> Bool {
        rows.contains(cell.row)
            && (columns.contains(cell.column) || columnsBeyond?.contains(cell.column) ?? false)
    }

    /// Whether some cell of the window lies in these rows and columns.
    public func meets(rows: ClosedRange<UInt32>, columns: ClosedRange<UInt32>) -> Bool {
        self.rows.overlaps(rows)
            && (self.columns.overlaps(columns) || columnsBeyond?.overlaps(columns) ?? false)
    }

    /// Whether the window has every cell of its level.
    public var isWorld: Bool { self == GridWindow(level: level) }

    /// A box that meets the cells of the window and no others: between the middles of its outermost
    /// ones, or the whole world's width.
    public var box: GeoBox {
        func middle(_ column: UInt32, _ row: UInt32) -> Coordinate {
            let side = Double(UInt64(1) << UInt64(WorldGrid.finestLevel - level))
            return WorldGrid.place(x: (Double(column) + 0.5) * side, y: (Double(row) + 0.5) * side)
        }
        let northWest = middle(columns.lowerBound, rows.lowerBound)
        let southEast = middle((columnsBeyond ?? columns).upperBound, rows.upperBound)
        let isRound = columns == Self.all(level)
        return GeoBox(
            south: southEast.latitude, west: isRound ? -180 : northWest.longitude,
            north: northWest.latitude, east: isRound ? 180 : southEast.longitude)
    }

    /// A box that has every place of the window, and perhaps some beside it.
    public var enclosingBox: GeoBox {
        let cells = Double(UInt64(1) << UInt64(level))
        let margin = 1e-9
        func latitude(_ row: Double) -> Double {
            WorldGrid.place(x: 0, y: row / cells * WorldGrid.size).latitude
        }
        func longitude(_ column: Double) -> Double { column / cells * 360 - 180 }
        let end = Double(rows.upperBound) + 1
        let north = rows.lowerBound == 0 ? 90 : latitude(Double(rows.lowerBound)) + margin
        let south = end == cells ? -90 : latitude(end) - margin
        if columns == Self.all(level) {
            return GeoBox(south: south, west: -180, north: north, east: 180)
        }
        let east = columnsBeyond ?? columns
        return GeoBox(
            south: south, west: max(-180, longitude(Double(columns.lowerBound)) - margin),
            north: north, east: min(180, longitude(Double(east.upperBound) + 1) + margin))
    }
}
