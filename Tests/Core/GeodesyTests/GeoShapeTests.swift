import Geodesy
import TestSupport
import Testing

@Suite struct GeoShapeTests {
    private static let oslo = Coordinate(latitude: 59.9139, longitude: 10.7522)

    /// A shape of every kind and model, some with no edge or no inside.
    private static func shapes() throws -> [GeoShape] {
        let corners = [(170.0, -10.0), (-170, -10), (-170, 10), (170, 10), (170, -10)]
        let ring = corners.map { Coordinate(latitude: $0.1, longitude: $0.0) }
        let circles = DistanceModel.allCases.flatMap { model in
            [0, 5_000, 3_000_000, .infinity].map {
                GeoShape.circle(GeoCircle(oslo, radiusMeters: $0, model: model))
            }
        }
        return circles + [
            .box(.world), .box(GeoBox(south: 50, west: 170, north: 70, east: 20)),
            .polygon(try GeoPolygon([[ring]])),
            .corridor(GeoCorridor(try GeoLine([oslo, ring[0], ring[2]]), widthMeters: 900_000)),
        ]
    }

    @Test func `a shape made ready for many places contains what it contains`() throws {
        let shapes = try Self.shapes()
        #expect(Set(shapes.map(\.kind)) == Set(GeoShape.Kind.allCases))
        var random = SplitMix64(seed: 1)
        for shape in shapes {
            let positions =
                [Self.oslo]
                + (0..<200).map { _ in
                    Coordinate(
                        latitude: random.number(-90...90), longitude: random.number(-180...180))
                }
            shape.withTest { contains in
                for position in positions {
                    #expect(contains(position) == shape.contains(position))
                }
            }
            if shape.isEverywhere { #expect(positions.allSatisfy(shape.contains)) }
        }
    }

    @Test func `a shape with a radius by a measure is all that lies within it`() throws {
        var random = SplitMix64(seed: 2)
        for model in DistanceModel.allCases {
            let measure = GeoCircle(Self.oslo, model: model).distance
            for shape in try Self.shapes() {
                guard let radius = shape.radiusMeters(by: measure) else { continue }
                for _ in 0..<200 {
                    let position = Coordinate(
                        latitude: random.number(50...70), longitude: random.number(0...20))
                    let distance = measure.distance(to: position)
                    #expect(distance == model.distance(Self.oslo, position))
                    #expect(shape.contains(position) == distance.isWithin(radiusMeters: radius))
                }
            }
        }
    }

    @Test func `a radius is one by the measure of its circle alone`() {
        let circle = GeoCircle(Self.oslo, radiusMeters: 7)
        let shape = GeoShape.circle(circle)
        #expect(shape.radiusMeters(by: circle.distance) == 7)
        let everywhere = GeoShape.circle(GeoCircle(Self.oslo))
        #expect(everywhere.radiusMeters(by: circle.distance) == .infinity)
        for other in [GeoCircle(Self.oslo, model: .wgs84), GeoCircle(Self.oslo.antipode)] {
            #expect(shape.radiusMeters(by: other.distance) == nil)
        }
        #expect(GeoShape.box(.world).radiusMeters(by: circle.distance) == nil)
    }

    @Test func `the examples on the cards come out as written`() {
        let opera = Coordinate(latitude: 59.91, longitude: 10.75)
        #expect(GeoShape.circle(GeoCircle(Self.oslo, radiusMeters: 5_000)).contains(opera))
        let tower = Coordinate(latitude: 35.658603, longitude: 139.745433)
        let near = GeoCircle(tower, radiusMeters: 500)
        #expect(near.contains(Coordinate(latitude: 35.66, longitude: 139.745)))
    }
}
