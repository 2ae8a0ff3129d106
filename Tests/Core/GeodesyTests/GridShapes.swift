import Foundation
import Geodesy
import TestSupport

/// A geometry with vertices on a small grid, made so that edges often touch, overlap and end on each
/// other.
struct GridShape {
    typealias Point = (x: Int, y: Int)

    let kind: Geometry.Kind
    var parts: [[[Point]]]

    var exact: ExactPlane { ExactPlane(isArea: kind.isArea, runs: parts.flatMap { $0 }) }

    func moved(x: Int, y: Int) -> GridShape {
        GridShape(kind: kind, parts: parts.map { $0.map { $0.map { ($0.x + x, $0.y + y) } } })
    }

    /// - Throws: `InvalidGeometry`, for a shape that is none.
    func geometry(_ coordinate: (Point) -> Coordinate) throws -> Geometry {
        try Geometry(kind, parts: parts.map { $0.map { $0.map(coordinate) } })
    }
}

/// Makes shapes on a grid of so many rows and columns.
struct GridShapes {
    let size: Int
    private static func isValid(_ shape: GridShape) -> Bool {
        (try? shape.geometry {
            Coordinate(latitude: Double($0.y), longitude: Double($0.x))
        }) != nil
    }

    func shape(_ random: inout SplitMix64) -> GridShape {
        switch random.below(6) {
        case 0: lines(&random)
        case 1, 2: several(&random)
        default: area(&random)
        }
    }

    /// Something of another shape: one of its rings, as area or line, some of its edges, or a part of
    /// them; or a small shape.
    func part(of shape: GridShape, _ random: inout SplitMix64) -> GridShape {
        let run = random.pick(random.pick(shape.parts))
        switch random.below(6) {
        case 0 where shape.kind.isArea: return GridShape(kind: .polygon, parts: [[run]])
        case 1: return GridShape(kind: .lineString, parts: [[run]])
        case 2:
            let first = random.below(run.count - 1)
            let end = first + 1 + random.below(run.count - first - 1)
            let line = GridShape(kind: .lineString, parts: [[Array(run[first...end])]])
            return Self.isValid(line) ? line : shape
        case 3:
            let vertices = [random.pick(run), random.pick(random.pick(random.pick(shape.parts)))]
            guard vertices[0] != vertices[1] else { return self.shape(&random) }
            return GridShape(kind: .lineString, parts: [[vertices]])
        case 4 where shape.kind.isArea:
            let corners = (0..<3).map { _ in random.pick(random.pick(random.pick(shape.parts))) }
            let triangle = GridShape(kind: .polygon, parts: [[corners + [corners[0]]]])
            return Self.isValid(triangle) ? triangle : shape
        default: return GridShapes(size: 4).shape(&random)
        }
    }

    private func point(_ random: inout SplitMix64) -> GridShape.Point {
        (random.below(size + 1), random.below(size + 1))
    }

    private func lines(_ random: inout SplitMix64) -> GridShape {
        let lines = (0..<1 + random.below(3)).map { _ in
            var line = (0..<2 + random.below(4)).map { _ in point(&random) }
            if line.allSatisfy({ $0 == line[0] }) { line.append((line[0].x ^ 1, line[0].y)) }
            return [line]
        }
        return GridShape(kind: .multiLineString, parts: lines)
    }

    /// A ring around its middle, or along rows and columns.
    private func ring(_ random: inout SplitMix64) -> [GridShape.Point] {
        if random.oneIn(3) {
            let (a, b) = (point(&random), point(&random))
            return [a, (b.x, a.y), b, (a.x, b.y), a]
        }
        let points = (0..<3 + random.below(5)).map { _ in point(&random) }
        let middle = (
            x: Double(points.map(\.x).reduce(0, +)) / Double(points.count) + 0.01,
            y: Double(points.map(\.y).reduce(0, +)) / Double(points.count) + 0.007
        )
        let sorted = points.sorted {
            atan2(Double($0.y) - middle.y, Double($0.x) - middle.x)
                < atan2(Double($1.y) - middle.y, Double($1.x) - middle.x)
        }
        return sorted + [sorted[0]]
    }

    /// A polygon with up to three holes, which may touch it and each other.
    func area(_ random: inout SplitMix64) -> GridShape {
        var shape = GridShape(kind: .polygon, parts: [])
        repeat { shape.parts = [[ring(&random)]] } while !Self.isValid(shape)
        for _ in 0..<random.below(12) {
            let shell = shape.parts[0][0]
            var hole = ring(&random)
            // A hole that begins on the shell touches it there.
            if random.oneIn(2) { hole = hole.map { $0 == hole[0] ? random.pick(shell) : $0 } }
            hole[hole.count - 1] = hole[0]
            var holed = shape
            holed.parts[0].append(hole)
            if holed.parts[0].count < 5, Self.isValid(holed) { shape = holed }
        }
        return shape
    }

    private func several(_ random: inout SplitMix64) -> GridShape {
        var shape = GridShape(kind: .multiPolygon, parts: area(&random).parts)
        for _ in 0..<random.below(12) {
            var more = shape
            more.parts += area(&random).parts
            if more.parts.count < 4, Self.isValid(more) { shape = more }
        }
        return shape
    }
}
