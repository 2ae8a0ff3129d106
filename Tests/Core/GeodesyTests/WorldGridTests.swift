import Geodesy
import TestSupport
import Testing

/// The world's grid: which cell has a place, and which cells a box meets.
@Suite struct WorldGridTests {
    private static let levels = 0...WorldGrid.finestLevel

    private static func grid(_ latitude: Double, _ longitude: Double) -> WorldGrid {
        WorldGrid(latitude: latitude, longitude: longitude)
    }

    @Test func `A known place lies in the cell that web maps number so`() {
        let haneda = Self.grid(35.552299, 139.779999)
        #expect(haneda.cell(level: 9) == GridCell(column: 454, row: 201))
        #expect(Self.grid(0, 0).cell(level: 1) == GridCell(column: 1, row: 1))
        #expect(haneda.cell(level: 0) == GridCell(column: 0, row: 0))
    }

    @Test func `Columns begin at their western edge, rows at their northern one`() {
        for level in Self.levels.dropFirst() {
            let half = UInt32(1) << UInt32(level - 1)
            #expect(Self.grid(0, 0).cell(level: level) == GridCell(column: half, row: half))
            #expect(Self.grid(0, (-1e-9).nextUp).cell(level: level).column == half - 1)
            #expect(Self.grid(2e-7, 0).cell(level: level).row == half - 1)
            #expect(Self.grid(-2e-7, 0).cell(level: level).row == half)
        }
    }

    @Test func `Longitude 180 is -180, and poles lie in the edge rows`() {
        for level in Self.levels {
            let last = UInt32((UInt64(1) << UInt64(level)) - 1)
            #expect(Self.grid(5, 180) == Self.grid(5, -180))
            #expect(Self.grid(5, -180).cell(level: level).column == 0)
            #expect(Self.grid(5, 180.0.nextDown).cell(level: level).column == last)
            for latitude in [90, 85.06, WorldGrid.edgeLatitude] {
                #expect(Self.grid(latitude, 7).cell(level: level).row == 0, "\(latitude)")
                #expect(Self.grid(-latitude, 7).cell(level: level).row == last, "\(latitude)")
            }
        }
    }

    @Test func `A cell is the union of its four children`() {
        var random = SplitMix64(seed: 1)
        for _ in 0..<2_000 {
            let place = Self.grid(random.number(-90...90), random.number(-180...180))
            for level in Self.levels.dropLast() {
                let (cell, child) = (place.cell(level: level), place.cell(level: level + 1))
                #expect(cell == GridCell(column: child.column / 2, row: child.row / 2))
            }
        }
    }

    @Test func `The place of a point of the plane lies where the point does`() {
        var random = SplitMix64(seed: 2)
        for _ in 0..<2_000 {
            let place = Coordinate(
                latitude: random.number(-85...85), longitude: random.number(-180...179.999))
            let grid = WorldGrid(place)
            let back = WorldGrid.place(x: Double(grid.x) + 0.5, y: Double(grid.y) + 0.5)
            #expect(abs(back.latitude - place.latitude) < 4e-7)
            #expect(abs(back.longitude - place.longitude) < 4e-7)
        }
    }

    // MARK: Windows

    private static let edges: [Double] = [-180, -179.9, -90, 0, 1e-9, 90, 179.9, 180]
    private static let parallels: [Double] = [-90, -85.06, -45, 0, 45, 85.06, 90]

    @Test func `A window has the cell of each place of its box, on every level`() {
        var random = SplitMix64(seed: 3)
        for round in 0..<4_000 {
            let box = Self.box(&random)
            let level = random.below(WorldGrid.finestLevel + 1)
            let window = GridWindow(level: level, meeting: box)
            for _ in 0..<4 {
                let place = Self.place(in: box, &random)
                #expect(
                    window.contains(WorldGrid(place).cell(level: level)),
                    "round \(round), level \(level), \(box), \(place)")
                #expect(window.enclosingBox.contains(place), "round \(round), \(box), \(place)")
            }
        }
    }

    @Test func `The window of a tile has its cells and no other, and its box every place of it`() {
        var random = SplitMix64(seed: 5)
        for round in 0..<4_000 {
            let (zoom, bits) = (random.below(23), random.below(9))
            let place = Self.place(in: Self.box(&random), &random)
            let grid = WorldGrid(place)
            let window = GridWindow(tile: grid.cell(level: zoom), zoom: zoom, bits: bits)
            #expect(window.level == zoom + bits)
            #expect(window.rows.count == 1 << bits && window.columns.count == 1 << bits)
            #expect(window.columnsBeyond == nil)
            #expect(window.contains(grid.cell(level: zoom + bits)), "round \(round), \(place)")
            #expect(window.enclosingBox.contains(place), "round \(round), \(place)")
        }
    }

    @Test func `A window has no cell that its box does not meet`() {
        let columns = { (west: Double, east: Double) in
            let box = GeoBox(south: -10, west: west, north: 10, east: east)
            let window = GridWindow(level: 3, meeting: box)
            #expect(window.rows == 3...4)
            return (0..<8).filter { window.contains(GridCell(column: $0, row: 3)) }
        }
        #expect(columns(0, 10) == [4])
        #expect(columns(0, 45) == [4, 5])
        #expect(columns(-1e-6, 44.9) == [3, 4])
        #expect(columns(170, -170) == [0, 7])
        #expect(columns(170, 180) == [0, 7])
        #expect(columns(180, 180) == [0])
        #expect(columns(-180, -170) == [0])
        #expect(columns(-180, 180) == Array(0..<8))
        #expect(columns(1, 0) == Array(0..<8))
        #expect(GridWindow(level: 3).isWorld)
        let all = GeoBox(south: -90, west: -180, north: 90, east: 180)
        #expect(GridWindow(level: 3, meeting: all).isWorld)
    }

    @Test func `A window meets rows and columns in which it has a cell`() {
        var random = SplitMix64(seed: 4)
        for round in 0..<2_000 {
            let level = random.below(5)
            let window = GridWindow(level: level, meeting: Self.box(&random))
            let range = { (random: inout SplitMix64) in
                let bounds = [UInt32(random.below(1 << level)), UInt32(random.below(1 << level))]
                return bounds.min()!...bounds.max()!
            }
            let (rows, columns) = (range(&random), range(&random))
            let meets = rows.contains { row in
                columns.contains { window.contains(GridCell(column: $0, row: row)) }
            }
            #expect(window.meets(rows: rows, columns: columns) == meets, "round \(round)")
        }
    }

    private static func box(_ random: inout SplitMix64) -> GeoBox {
        let isAtEdges = random.below(2) == 0
        let side = { (random: inout SplitMix64) in
            isAtEdges ? edges[random.below(edges.count)] : random.number(-180...180)
        }
        let latitudes = (0..<2).map { _ in
            isAtEdges ? parallels[random.below(parallels.count)] : random.number(-90...90)
        }
        return GeoBox(
            south: latitudes.min()!, west: side(&random), north: latitudes.max()!,
            east: side(&random))
    }

    /// A place of the box, on its edges every other time.
    private static func place(in box: GeoBox, _ random: inout SplitMix64) -> Coordinate {
        let width = box.crossesAntimeridian ? box.east - box.west + 360 : box.east - box.west
        let shares = (0..<2).map { _ in
            random.below(2) == 0 ? Double(random.below(2)) : random.number(0...1)
        }
        var longitude = box.west + shares[0] * width
        if longitude > 180 { longitude -= 360 }
        if shares[0] == 1 { longitude = box.east }
        let latitude = min(box.north, box.south + shares[1] * (box.north - box.south))
        return Coordinate(latitude: latitude, longitude: min(max(longitude, -180), 180))
    }
}
