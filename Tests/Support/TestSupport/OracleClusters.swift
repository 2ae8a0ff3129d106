import Foundation
import JSONText

/// What `bucket.clusters` has to answer, written from the specification.
public struct OracleClusters: Sendable {
    /// A cell, the objects that it has, and the columns and rows of their points there.
    public struct Cell: Sendable {
        public var name: String
        public var objects: [OracleObject] = []
        public var points: [(x: Double, y: Double)] = []

        /// The mean of the columns and rows, in degrees.
        public var center: (latitude: Double, longitude: Double) {
            let count = Double(points.count)
            let x = points.reduce(0) { $0 + $1.x } / count / OracleClusters.size
            let y = points.reduce(0) { $0 + $1.y } / count / OracleClusters.size
            return (atan(sinh(.pi * (1 - 2 * y))) * 180 / .pi, x * 360 - 180)
        }
    }

    fileprivate static let size = 1_073_741_824.0

    private var field: String
    private var level: Int
    private var box: JSONValue?
    private var tile: [Int]?
    private let bits: Int

    /// - Parameters:
    ///   - box: the member `box` of the request.
    ///   - tile: column and row of its member `tile`.
    public init(
        field: String, zoom: Int, bits: Int, box: JSONValue? = nil, tile: [Int]? = nil
    ) {
        self.field = field
        self.bits = bits
        self.tile = tile
        level = zoom + bits
        self.box = box
    }

    private static func column(_ longitude: Double) -> Int {
        min(Int(size) - 1, Int(floor(((longitude == 180 ? -180 : longitude) + 180) / 360 * size)))
    }

    /// The column and the row of a GeoPoint on the finest level.
    public static func column(andRowOf place: JSONValue) -> [Double] {
        [Double(column(place["lon"]!.double!)), Double(row(place["lat"]!.double!))]
    }

    private static func row(_ latitude: Double) -> Int {
        let edge = 85.0511287798066
        let radians = max(-edge, min(edge, latitude)) * .pi / 180
        let y = (1 - log(tan(radians) + 1 / cos(radians)) / .pi) / 2
        return max(0, min(Int(size) - 1, Int(floor(y * size))))
    }

    /// The cells by row, then by column, of the objects that match.
    public func cells(of objects: [OracleObject]) -> [Cell] {
        var found: [(row: Int, column: Int, cell: Cell)] = []
        let shift = 30 - level
        for object in objects {
            let value = object.whole.field(field)
            var places: Set<[Int]> = []
            for point in (value?.array ?? [value].compactMap(\.self)).compactMap(
                OraclePosition.init)
            {
                let x = Self.column(point.longitude)
                let y = Self.row(point.latitude)
                let (column, row) = (x >> shift, y >> shift)
                guard isWanted(column, row), places.insert([x, y]).inserted else { continue }
                let known = found.firstIndex { $0.row == row && $0.column == column }
                if known == nil {
                    found.append((row, column, Cell(name: "\(level)/\(column)/\(row)")))
                }
                let cell = known ?? found.count - 1
                found[cell].cell.points.append((Double(x), Double(y)))
                if found[cell].cell.objects.last?.id != object.id {
                    found[cell].cell.objects.append(object)
                }
            }
        }
        return found.sorted { ($0.row, $0.column) < ($1.row, $1.column) }.map(\.cell)
    }

    /// Whether the half-open cell meets the box, whose edges belong to it.
    private func isWanted(_ column: Int, _ row: Int) -> Bool {
        if let tile { return tile == [column >> bits, row >> bits] }
        guard let box else { return true }
        let shift = 30 - level
        let (south, west) = (box["sw"]!["lat"]!.double!, box["sw"]!["lon"]!.double!)
        let (north, east) = (box["ne"]!["lat"]!.double!, box["ne"]!["lon"]!.double!)
        guard (Self.row(north) >> shift...Self.row(south) >> shift).contains(row) else {
            return false
        }
        // The meridians of the box, as one or two runs of columns without a wrap.
        var runs: [(Double, Double)] = west <= east ? [(west, east)] : [(west, 180), (-180, east)]
        if runs.contains(where: { $0.1 == 180 }) { runs.append((-180, -180)) }
        return runs.contains { west, east in
            if west == 180 { return column == 0 }
            let last = east == 180 ? Int(Self.size) - 1 : Self.column(east)
            return (Self.column(west) >> shift...last >> shift).contains(column)
        }
    }
}
