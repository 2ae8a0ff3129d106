import Geodesy
import Testing

@Suite struct GeoBoxTests {
    private func box(_ west: Double, _ east: Double) -> GeoBox {
        GeoBox(south: -10, west: west, north: 10, east: east)
    }

    private func holds(_ box: GeoBox, _ longitude: Double) -> Bool {
        box.contains(Coordinate(latitude: 0, longitude: longitude))
    }

    @Test func `edges are inside`() {
        let box = GeoBox(south: 1, west: 2, north: 3, east: 4)
        for (latitude, longitude) in [(1.0, 2.0), (1, 4), (3, 2), (3, 4)] {
            #expect(box.contains(Coordinate(latitude: latitude, longitude: longitude)))
        }
        #expect(!box.contains(Coordinate(latitude: 3.0.nextUp, longitude: 3)))
        #expect(!box.contains(Coordinate(latitude: 2, longitude: 4.0.nextUp)))
    }

    @Test func `a box that reaches one spelling of the antimeridian holds the other`() {
        #expect(holds(box(-180, -170), 180))
        #expect(holds(box(170, 180), -180))
        #expect(!holds(box(-180, -170), 179.9))
        #expect(!holds(box(170, 180), -179.9))
        for edge in [-180.0, 180] {
            #expect(holds(box(edge, edge), 180) && holds(box(edge, edge), -180))
            #expect(!holds(box(edge, edge), 0))
        }
    }

    @Test func `-180 through 180 is every longitude`() {
        for longitude in [-180, -1, 0.0, 91, 180] { #expect(holds(box(-180, 180), longitude)) }
    }

    @Test func `a box whose west is east of its east crosses the antimeridian`() {
        let fiji = box(176, -178)
        for longitude in [176, 179, 180, -180, -178.0] { #expect(holds(fiji, longitude)) }
        for longitude in [175.9, -177.9, 0] { #expect(!holds(fiji, longitude)) }
        #expect(fiji.crossesAntimeridian)
        #expect(holds(box(180, -180), 180) && holds(box(180, -180), -180))
        #expect(!holds(box(180, -180), 0))
    }

    @Test func `at a pole a box is still a rectangle in degrees`() {
        let box = GeoBox(south: 80, west: 0, north: 90, east: 10)
        #expect(box.contains(Coordinate(latitude: 90, longitude: 5)))
        #expect(!box.contains(Coordinate(latitude: 90, longitude: 50)))
    }
}
