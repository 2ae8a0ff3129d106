import Geodesy
import Glibc

/// A line of great-circle arcs whose distance is looked for on every edge, by other formulas than
/// `GeoLine`'s: from the plane of the edge where the place lies beside it, else from a position.
///
/// The error is below 1e-6 m for edges of some kilometres.
struct ScannedLine {
    private let positions: [SIMD3<Double>]
    private let edges: [Edge]

    private struct Edge {
        /// Normal to the plane, and in it at right angles to both ends: forward from the first, back
        /// from the last.
        let normal, forward, back: SIMD3<Double>

        init(_ a: SIMD3<Double>, _ b: SIMD3<Double>) {
            let product = cross(a, b)
            // NaN for an edge of no length, so that no place is beside it.
            normal = product / dot(product, product).squareRoot()
            forward = cross(normal, a)
            back = cross(b, normal)
        }
    }

    init(_ line: [Coordinate]) {
        positions = line.map(Chord.vector)
        edges = zip(positions, positions.dropFirst()).map { Edge($0, $1) }
    }

    func meters(to position: Coordinate) -> Double {
        let vector = Chord.vector(position)
        var sine = 1.0
        for edge in edges where dot(vector, edge.forward) > 0 && dot(vector, edge.back) > 0 {
            sine = min(sine, abs(dot(vector, edge.normal)))
        }
        let nearest = positions.map { Chord.meters($0, vector) }.min()!
        return min(Chord.radiusMeters * asin(sine), nearest)
    }
}

func dot(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> Double { (a * b).sum() }

private func cross(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> SIMD3<Double> {
    SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
}
