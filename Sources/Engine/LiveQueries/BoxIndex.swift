import Geodesy

/// Boxes by place: which of them may hold a point. It takes insertions and removals.
///
///     var index = BoxIndex()
///     index.insert(box, of: 17)
///     index.forEachCandidate(at: point) { number in … }     // 17, if the point lies in the box
///
/// It is a grid of several levels. A box is entered at the level whose cells are at least as large as
/// the box, in the one to four cells that it touches. A point asks for one cell of each level that
/// has boxes.
///
/// - Complexity: insertion and removal touch at most eight cells. A search looks up a cell at each of
///   at most 21 levels and compares the boxes in it.
struct BoxIndex {
    private struct Entry {
        let number: UInt32
        // Rounded outward.
        let south, west, north, east: Float
    }

    private var cells: [UInt64: [Entry]] = [:]
    /// The number of entries of each level.
    private var counts = [Int](repeating: 0, count: levelCount)

    private static let levelCount = 21

    /// Whether there is no box.
    var isEmpty: Bool { cells.isEmpty }

    /// Adds a box under a number that it does not have yet.
    mutating func insert(_ box: GeoBox, of number: UInt32) {
        for part in Self.parts(of: box) {
            let entry = Entry(
                number: number, south: .roundedDown(part.south), west: .roundedDown(part.west),
                north: .roundedUp(part.north), east: .roundedUp(part.east))
            let level = Self.level(of: part)
            Self.forEachCell(of: part, at: level) {
                cells[$0, default: []].append(entry)
                counts[level] += 1
            }
        }
    }

    /// Removes a box that was inserted under a number.
    mutating func remove(_ box: GeoBox, of number: UInt32) {
        for part in Self.parts(of: box) {
            let level = Self.level(of: part)
            Self.forEachCell(of: part, at: level) { cell in
                guard let place = cells[cell]?.firstIndex(where: { $0.number == number }) else {
                    return
                }
                counts[level] -= 1
                if cells[cell]!.count == 1 {
                    cells[cell] = nil
                } else {
                    cells[cell]!.remove(at: place)
                }
            }
        }
    }

    /// Calls `body` with the number of every box that holds a point, perhaps of others that nearly
    /// do, and perhaps several times.
    func forEachCandidate(at point: Coordinate, _ body: (UInt32) -> Void) {
        forEachCandidate(at: point, or: point, body)
    }

    /// The same for boxes that hold one of two points. Of points that are close it looks up each cell
    /// once.
    func forEachCandidate(at a: Coordinate, or b: Coordinate, _ body: (UInt32) -> Void) {
        let (first, second) = (Spot(a), Spot(b))
        for level in 0..<Self.levelCount where counts[level] > 0 {
            let cell = Self.cell(of: a, at: level)
            let other = Self.cell(of: b, at: level)
            for entry in cells[cell] ?? []
            where first.mayLie(in: entry) || cell == other && second.mayLie(in: entry) {
                body(entry.number)
            }
            guard other != cell else { continue }
            for entry in cells[other] ?? [] where second.mayLie(in: entry) { body(entry.number) }
        }
    }

    /// A point, rounded to both sides.
    private struct Spot {
        private let low, high, left, right: Float

        init(_ point: Coordinate) {
            (low, high) = (.roundedDown(point.latitude), .roundedUp(point.latitude))
            (left, right) = (.roundedDown(point.longitude), .roundedUp(point.longitude))
        }

        func mayLie(in entry: Entry) -> Bool {
            entry.south <= high && entry.north >= low && entry.west <= right && entry.east >= left
        }
    }

    // MARK: Cells

    private struct Part {
        let south, west, north, east: Double
    }

    /// The box as rectangles of plain numbers. A box over the antimeridian has two.
    private static func parts(of box: GeoBox) -> [Part] {
        let ranges = box.longitudeRanges
        return [ranges.0, ranges.1].compactMap { range in
            range.map {
                Part(south: box.south, west: $0.lowerBound, north: box.north, east: $0.upperBound)
            }
        }
    }

    /// The finest level whose cells are as large as a part. A cell of level n measures 360/2ⁿ
    /// degrees.
    private static func level(of part: Part) -> Int {
        let size = max(part.north - part.south, part.east - part.west)
        var (level, cell) = (0, 180.0)
        while level + 1 < levelCount, cell >= size {
            level += 1
            cell /= 2
        }
        return level
    }

    private static func place(_ degrees: Double, _ level: Int) -> UInt64 {
        UInt64(degrees / 360 * Double(1 << level))
    }

    private static func cell(of point: Coordinate, at level: Int) -> UInt64 {
        cell(level, place(point.latitude + 90, level), place(point.longitude + 180, level))
    }

    private static func cell(_ level: Int, _ row: UInt64, _ column: UInt64) -> UInt64 {
        UInt64(level) << 58 | row << 29 | column
    }

    private static func forEachCell(of part: Part, at level: Int, _ body: (UInt64) -> Void) {
        for row in place(part.south + 90, level)...place(part.north + 90, level) {
            for column in place(part.west + 180, level)...place(part.east + 180, level) {
                body(cell(level, row, column))
            }
        }
    }
}

extension Float {
    /// The greatest value that is at most a number.
    static func roundedDown(_ value: Double) -> Float {
        let rounded = Float(value)
        return Double(rounded) > value ? rounded.nextDown : rounded
    }

    /// The least value that is at least a number.
    static func roundedUp(_ value: Double) -> Float {
        let rounded = Float(value)
        return Double(rounded) < value ? rounded.nextUp : rounded
    }
}
