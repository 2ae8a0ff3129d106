import Geodesy
import Interchange
import Testing

/// Lengths, places and boxes as people type them.
@Suite struct ArgumentTests {
    @Test(
        "A length is a number and a unit, metres without one",
        arguments: [
            ("300", 300.0), ("5km", 5_000), ("5 km", 5_000), ("1.5mi", 2_414.016), ("1nmi", 1_852),
            ("10ft", 3.048), ("1e3", 1_000), ("1e3m", 1_000), ("2KM", 2_000), (" 7 m", 7),
            ("0.001m", 0.001),
        ])
    func lengths(_ text: String, _ meters: Double) throws {
        #expect(try Length.parse(text) == meters)
    }

    @Test(
        "What is no length above zero is refused with the reason",
        arguments: [
            ("", "no length"), ("km", "no length"), ("5 parsecs", "no unit"), ("-5km", "greater"),
            ("0", "greater"), ("nan", "no unit"), ("inf", "no unit"), ("0x10", "no length"),
            ("1,5km", "no length"), ("1e999", "no length"), ("5km2", "no length"),
        ])
    func badLengths(_ text: String, _ reason: String) {
        #expect { try Length.parse(text) } throws: { "\($0)".contains(reason) }
    }

    @Test("A place is latitude, longitude in degrees; the edges belong to the range")
    func positions() throws {
        #expect(
            try parseCoordinate("35.68,139.76") == Coordinate(latitude: 35.68, longitude: 139.76))
        #expect(try parseCoordinate(" -90 , 180 ") == Coordinate(latitude: -90, longitude: 180))
    }

    @Test(
        "What is no place is refused with the reason, a swapped one with the right order",
        arguments: [
            ("", "found 1"), ("35", "found 1"), ("1,2,3", "found 3"), ("a,2", "LAT"), ("1,", "LON"),
            ("139.76,35.68", "perhaps 35.68,139.76"), ("91,181", "latitude"),
            ("1,180.1", "longitude"),
            ("nan,1", "LAT"),
        ])
    func badPositions(_ text: String, _ reason: String) {
        #expect { try parseCoordinate(text) } throws: { "\($0)".contains(reason) }
    }

    @Test("A box is SOUTH,WEST,NORTH,EAST; west beyond east crosses the antimeridian")
    func boxes() throws {
        #expect(try parseBox("35,139,36,140") == GeoBox(south: 35, west: 139, north: 36, east: 140))
        #expect(try parseBox("-21,176,-12,-178").crossesAntimeridian)
        #expect(try parseBox("-90,-180,90,180") == .world)
        #expect(try parseBox("1,2,1,2") == GeoBox(south: 1, west: 2, north: 1, east: 2))
    }

    @Test(
        "What is no box is refused with the reason",
        arguments: [
            ("36,139,35,140", "swapped"), ("1,2,3", "found 3"), ("91,0,92,0", "south"),
            ("0,-181,1,0", "west"), ("0,0,90.5,0", "north"), ("0,0,1,200", "east"),
            ("0,0,x,0", "NORTH"),
        ])
    func badBoxes(_ text: String, _ reason: String) {
        #expect { try parseBox(text) } throws: { "\($0)".contains(reason) }
    }
}
