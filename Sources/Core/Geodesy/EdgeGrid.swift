/// The edges of valid polygons in the plane, found by place: whether a point lies inside, and how
/// much of a rectangle does.
///
///     let grid = EdgeGrid(edges)
///     grid.contains(x: 10.7, y: 59.9)
///
/// Rows and columns lie between coordinates of vertices, so that each has about as many of them.
/// A cell knows the edges that may touch it. Whether a point lies inside is the parity of the edges
/// that a ray to the left crosses, an edge from its lower end, included, to its upper one: those of
/// the point's cell are asked, and of those farther left the ones that end within the row; how many
/// others there are each cell knows. Sides are told exactly.
///
/// - Complexity: to make one O(n^1.5) for n edges, at most; a point O(n^0.5) for most shapes, spiky
///   ones included, O(n) at worst.
struct EdgeGrid: Sendable {
    /// An edge that ends within a row, and the last column that it may touch there.
    fileprivate struct Partial: BitwiseCopyable {
        let edge: Int32
        let lastColumn: Int32
    }

    private let edges: [PlaneEdge]
    /// Where rows and columns begin, and where the last of them ends.
    private let ys, xs: [Double]
    /// The edges of each cell, row by row, and where those of a cell begin.
    private let touching: [Int32]
    private let firstTouching: [Int32]
    /// Of each cell the parity of the edges left of it that cross the whole row.
    private let isOddLeft: [Bool]
    private let partials: [Partial]
    private let firstPartial: [Int32]

    /// How far beyond its computed ends an edge is thought to reach; degrees.
    fileprivate static let hair = 1e-9

    /// So many rows and columns at most: a thousand edges have 20 of each, ten thousand 64.
    private static let mostRows = 64

    init(_ edges: [PlaneEdge]) {
        self.edges = edges
        let count = min(max(Int((0.41 * Double(edges.count)).squareRoot()), 1), Self.mostRows)
        ys = Self.boundaries(edges.map(\.ay), count)
        xs = Self.boundaries(edges.map(\.ax), count)
        var layout = Layout(ys: ys, xs: xs)
        for (number, edge) in edges.enumerated() { layout.add(edge, Int32(number)) }
        (firstTouching, touching) = Self.joined(layout.touching)
        (firstPartial, partials) = Self.joined(layout.partials)
        isOddLeft = layout.isOddLeft()
    }

    /// Edges that a point is compared with, on average.
    var meanEdges: Double {
        Double(touching.count) / Double(isOddLeft.count)
            + Double(partials.count) / Double(ys.count - 1)
    }

    /// Some of the coordinates, ascending, the least and the greatest among them.
    private static func boundaries(_ coordinates: [Double], _ count: Int) -> [Double] {
        let sorted = coordinates.sorted()
        var boundaries = [sorted[0]]
        for position in 1...count {
            let next = sorted[(sorted.count - 1) * position / count]
            if next > boundaries.last! { boundaries.append(next) }
        }
        return boundaries
    }

    private static func joined<Element>(_ lists: [[Element]]) -> (first: [Int32], all: [Element]) {
        var first: [Int32] = [0]
        var all: [Element] = []
        for list in lists {
            all += list
            first.append(Int32(all.count))
        }
        return (first, all)
    }

    /// The row or column of a coordinate; what lies beyond all belongs to the outermost.
    fileprivate static func position(of coordinate: Double, in boundaries: [Double]) -> Int {
        var (low, high) = (0, boundaries.count - 2)
        while low < high {
            let middle = (low + high + 1) / 2
            if boundaries[middle] <= coordinate { low = middle } else { high = middle - 1 }
        }
        return low
    }

    // MARK: Asking

    /// Whether the point lies inside or on an edge.
    func contains(x: Double, y: Double) -> Bool {
        guard x >= xs[0], x <= xs[xs.count - 1], y >= ys[0], y <= ys[ys.count - 1] else {
            return false
        }
        let (row, column) = (Self.position(of: y, in: ys), Self.position(of: x, in: xs))
        let cell = row * (xs.count - 1) + column
        // Above the uppermost vertex no edge goes on.
        var isInside = isOddLeft[cell] && y < ys[ys.count - 1]
        for entry in touching[Int(firstTouching[cell])..<Int(firstTouching[cell + 1])] {
            switch edges[Int(entry)].meeting(withRayFrom: x, y) {
            case .touch: return true
            case .crossing: isInside.toggle()
            case .none: break
            }
        }
        for partial in partials[Int(firstPartial[row])..<Int(firstPartial[row + 1])]
        where partial.lastColumn < column {
            if edges[Int(partial.edge)].crosses(y) { isInside.toggle() }
        }
        return isInside
    }

    /// How much of the rectangle, a hair's breadth around it included, lies inside; `.part` also
    /// where it is not sure.
    func overlap(west: Double, south: Double, east: Double, north: Double) -> Overlap {
        let (west, south) = (west - Self.hair, south - Self.hair)
        let (east, north) = (east + Self.hair, north + Self.hair)
        guard west <= xs[xs.count - 1], east >= xs[0], south <= ys[ys.count - 1], north >= ys[0]
        else { return .none }
        let columns = Self.position(of: west, in: xs)...Self.position(of: east, in: xs)
        for row in Self.position(of: south, in: ys)...Self.position(of: north, in: ys) {
            let first = row * (xs.count - 1)
            let (from, to) = (first + columns.lowerBound, first + columns.upperBound)
            for entry in touching[Int(firstTouching[from])..<Int(firstTouching[to + 1])]
            where edges[Int(entry)].mayMeet(west, south, east, north) {
                return .part
            }
        }
        // No edge comes near: the whole of it is as one corner is.
        return contains(x: west, y: south) ? .whole : .none
    }
}

/// The cells of a grid while edges are laid out in them.
private struct Layout {
    let ys, xs: [Double]
    var touching: [[Int32]]
    var partials: [[EdgeGrid.Partial]]
    /// How many edges that cross a whole row touch no column from this one on.
    private var ended: [Int]

    private var columns: Int { xs.count - 1 }

    init(ys: [Double], xs: [Double]) {
        self.ys = ys
        self.xs = xs
        let (rows, columns) = (ys.count - 1, xs.count - 1)
        touching = Array(repeating: [], count: rows * columns)
        partials = Array(repeating: [], count: rows)
        ended = Array(repeating: 0, count: rows * columns)
    }

    mutating func add(_ edge: PlaneEdge, _ number: Int32) {
        let (south, north) = (min(edge.ay, edge.by), max(edge.ay, edge.by))
        let last = EdgeGrid.position(of: north, in: ys)
        var row = EdgeGrid.position(of: south, in: ys)
        // What ends on a boundary touches both sides of it.
        if row > 0, ys[row] == south { row -= 1 }
        for row in row...last {
            let span = span(of: edge, in: row)
            for column in span { touching[row * columns + column].append(number) }
            if south <= ys[row], north >= ys[row + 1] {
                if span.upperBound + 1 < columns { ended[row * columns + span.upperBound + 1] += 1 }
            } else {
                partials[row].append(
                    EdgeGrid.Partial(edge: number, lastColumn: Int32(span.upperBound)))
            }
        }
    }

    /// The columns that the edge may touch in a row.
    private func span(of edge: PlaneEdge, in row: Int) -> ClosedRange<Int> {
        let (a, b) =
            edge.ay == edge.by
            ? (edge.ax, edge.bx) : (edge.x(at: ys[row]), edge.x(at: ys[row + 1]))
        let first = EdgeGrid.position(of: min(a, b) - EdgeGrid.hair, in: xs)
        return first...max(first, EdgeGrid.position(of: max(a, b) + EdgeGrid.hair, in: xs))
    }

    func isOddLeft() -> [Bool] {
        var count = 0
        return ended.indices.map { cell in
            count = (cell % columns == 0 ? 0 : count) + ended[cell]
            return count % 2 == 1
        }
    }
}

extension PlaneEdge {
    /// About where an edge that is not level is at a latitude, or the end of it that is nearer.
    fileprivate func x(at y: Double) -> Double {
        if y <= min(ay, by) { return ay < by ? ax : bx }
        if y >= max(ay, by) { return ay < by ? bx : ax }
        return ax + (y - ay) / (by - ay) * (bx - ax)
    }
}
