import TestSupport
import Testing

/// `geobox`: a rectangle in degrees, its edges used as given.
@Suite struct BoxRules {
    static let places: [(String, Double, Double)] = [
        ("origin", 0, 0), ("east", 0, 180), ("west", 0, -180), ("near-east", 0, 179.5),
        ("near-west", 0, -179.5), ("north", 90, 10), ("north2", 90, -100), ("south", -90, 10),
        ("mid", 45, 100), ("mid-west", 45, -100),
    ]

    /// South, west, north, east and the places inside, by the rule and by hand.
    static let boxes: [(Double, Double, Double, Double, [String])] = [
        (-1, -1, 1, 1, ["origin"]), (0, 0, 0, 0, ["origin"]), (0, 0, 1, 1, ["origin"]),
        (-1, -1, 0, 0, ["origin"]), (0.0001, 0, 1, 1, []),
        (-1, 179, 1, -179, ["east", "west", "near-east", "near-west"]),
        (-1, 179, 1, 180, ["east", "west", "near-east"]),
        (-1, -180, 1, -179, ["east", "west", "near-west"]),
        (-1, 180, 1, 180, ["east", "west"]), (-1, -180, 1, -180, ["east", "west"]),
        (-1, 180, 1, -180, ["east", "west"]), (-1, 179.6, 1, -179.6, ["east", "west"]),
        (-1, -179, 1, 179, ["origin"]),
        (-1, -180, 1, 180, ["origin", "east", "west", "near-east", "near-west"]),
        (-90, -180, 90, 180, places.map(\.0)),
        (80, 0, 90, 20, ["north"]), (90, 10, 90, 10, ["north"]), (80, 20, 90, 30, []),
        (80, 50, 90, 20, ["north", "north2"]), (-90, 0, -89, 20, ["south"]),
        (40, 90, 50, 110, ["mid"]), (40, 90, 50, -90, ["mid", "mid-west"]),
        (40, -90, 50, 90, []), (45, 100, 45, 100, ["mid"]),
    ]

    @Test func `A box holds the places between its edges, over the antimeridian too`() async throws
    {
        try await TestService.with { service in
            try await service.store(Self.places.map { ($0.0, "\"p\":\(point($0.1, $0.2))") })
            for (south, west, north, east, inside) in Self.boxes {
                let clause =
                    #"{"type":"geobox","field":"p","box":{"ne":\#(point(north, east)),"sw":\#(point(south, west))}}"#
                #expect(try await service.ids(clause) == inside, "\(clause)")
                #expect(try await service.count(clause) == inside.count, "\(clause)")
                let outside = Self.places.map(\.0).filter { !inside.contains($0) }
                #expect(
                    try await service.ids(#"{"type":"not","clause":\#(clause)}"#) == outside,
                    "\(clause)")
            }
        }
    }
}
