import Foundation
import Geodesy
import TestSupport
import Testing

/// Real polygons, where they are at hand: GEOBUCKET_COUNTRIES names a GeoJSON file of areas, such as
/// Natural Earth's countries (naturalearthdata.com, public domain).
@Suite struct CountriesTests {
    private static let path = ProcessInfo.processInfo.environment["GEOBUCKET_COUNTRIES"]

    @Test(.enabled(if: path != nil, "GEOBUCKET_COUNTRIES names no file"))
    func `every valid country holds what counting crossings says`() throws {
        let text = try String(contentsOfFile: try #require(Self.path), encoding: .utf8)
        let features = try #require(try JSONValue(parsing: text)["features"]?.array)
        var random = SplitMix64(seed: 1)
        var inside = 0
        var refused: [String] = []
        for feature in features {
            let geometry = feature["geometry"]!
            let coordinates = geometry["coordinates"]!.array!
            let isSeveral = geometry["type"]!.string! == "MultiPolygon"
            let polygons = (isSeveral ? coordinates : [.array(coordinates)]).map { rings in
                rings.array!.map { ring in
                    ring.array!.map {
                        Coordinate(latitude: $0[1]!.double!, longitude: $0[0]!.double!)
                    }
                }
            }
            let name =
                (feature["properties"]?["NAME"] ?? feature["properties"]?["name"])?.string ?? "?"
            guard let polygon = try? GeoPolygon(polygons) else {
                refused.append(name)
                continue
            }
            let oracle = OraclePolygon(geometry)
            let vertices = Array(polygons.joined().joined())
            for _ in 0..<300 {
                let vertex = random.pick(vertices)
                let position =
                    random.oneIn(4)
                    ? vertex
                    : Coordinate(
                        latitude: min(90, max(-90, vertex.latitude + random.number(-5...5))),
                        longitude: min(180, max(-180, vertex.longitude + random.number(-5...5))))
                let isInside = oracle.contains(
                    latitude: position.latitude, longitude: position.longitude)
                inside += isInside ? 1 : 0
                #expect(
                    polygon.contains(position) == isInside,
                    "\(name), \(position)")
            }
        }
        #expect(features.count > 100 && inside > 1_000)
        // At 1:110,000,000 a few borders touch or cross themselves by a hair, Sudan's among them.
        #expect(refused.count <= 3, "\(refused)")
    }
}
