#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The world's grid: Web Mercator cut into 2^30 columns and 2^30 rows, and into four times fewer
/// cells on each level above.
///
///     WorldGrid(Coordinate(latitude: 35.55, longitude: 139.78)).cell(level: 9)    // 9/454/201
///
/// Cells are half-open, so each place lies in exactly one cell of each level: columns begin at their
/// western edge, rows at their northern one. Longitude 180 is -180. Latitudes beyond ±85.0511° lie in
/// the first or the last row.
///
/// - Reference: EPSG:3857; the numbering of cells is that of web map tiles.
public struct WorldGrid: Sendable, Hashable, BitwiseCopyable {
    /// The column, from west to east, below 2^30.
    public let x: UInt32
    /// The row, from north to south, below 2^30.
    public let y: UInt32

    /// The finest level; it has 2^30 columns.
    public static let finestLevel = 30
    /// The latitude of the northern edge in degrees.
    public static let edgeLatitude = 85.0511287798066

    /// The number of columns, and of rows, on the finest level.
    public static let size = Double(UInt32(1) << UInt32(finestLevel))
    private static let last = (UInt32(1) << UInt32(finestLevel)) - 1

    /// A column and a row that exist.
    public init(x: UInt32, y: UInt32) {
        self.x = x
        self.y = y
    }

    /// The cell of the finest level that has a place.
    public init(_ place: Coordinate) {
        self.init(latitude: place.latitude, longitude: place.longitude)
    }

    /// The cell of the finest level that has a place, in degrees within -90…90 and -180…180.
    public init(latitude: Double, longitude: Double) {
        let point = Self.point(latitude: latitude, longitude: longitude)
        x = Self.clamped(point.x)
        y = Self.clamped(point.y)
    }

    /// The point of the plane at which a place lies, in columns and rows of the finest level.
    public static func point(of place: Coordinate) -> (x: Double, y: Double) {
        point(latitude: place.latitude, longitude: place.longitude)
    }

    @inline(__always)
    private static func point(latitude: Double, longitude: Double) -> (x: Double, y: Double) {
        let west = longitude == 180 ? -180 : longitude
        let radians = min(max(latitude, -edgeLatitude), edgeLatitude) * .pi / 180
        return ((west + 180) / 360 * size, (1 - asinh(tan(radians)) / .pi) / 2 * size)
    }

    private static func clamped(_ position: Double) -> UInt32 {
        UInt32(min(max(position, 0), Double(last)))
    }

    /// The cell of a level, 0 to `finestLevel`, that has this one.
    @inlinable
    public func cell(level: Int) -> GridCell {
        let shift = UInt32(Self.finestLevel - level)
        return GridCell(column: x >> shift, row: y >> shift)
    }

    /// The place at a point of the plane whose units are columns and rows of the finest level.
    public static func place(x: Double, y: Double) -> Coordinate {
        Coordinate(
            latitude: atan(sinh(.pi * (1 - 2 * y / size))) * 180 / .pi,
            longitude: x / size * 360 - 180)
    }
}

/// A cell of a level of the world's grid. Cells are ordered by row, then by column.
public struct GridCell: Sendable, Hashable, BitwiseCopyable {
    /// The column, from west to east.
    public let column: UInt32
    /// The row, from north to south.
    public let row: UInt32

    /// A cell that exists on its level.
    @inlinable
    public init(column: UInt32, row: UInt32) {
        self.column = column
        self.row = row
    }
}

extension GridCell: Comparable {
    /// Whether the first cell lies in a row before the second, or further west in the same row.
    public static func < (a: GridCell, b: GridCell) -> Bool {
        (a.row, a.column) < (b.row, b.column)
    }
}
