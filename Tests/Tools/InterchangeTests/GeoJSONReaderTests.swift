import Interchange
import Testing

@Suite struct GeoJSONReaderTests {
    private func feature(
        _ properties: String = "{}", id: String? = nil, geometry: String = "null"
    ) -> String {
        let id = id.map { ",\"id\":\($0)" } ?? ""
        return "{\"type\":\"Feature\"\(id),\"geometry\":\(geometry),\"properties\":\(properties)}"
    }

    private func point(_ coordinates: String) -> String {
        "{\"type\":\"Point\",\"coordinates\":\(coordinates)}"
    }

    private func collection(_ features: [String]) -> String {
        "{\"type\":\"FeatureCollection\",\"features\":[\n\(features.joined(separator: ",\n"))\n]}\n"
    }

    @Test(
        "Properties become fields, the Point the location, the id the _id; numbers keep their spelling"
    )
    func conversion() throws {
        let text = feature(
            #"{"a": 1.50, "b": {"c": [1, 2]}}"#, id: "\"x-1\"", geometry: point("[139.70, 35.6]"))
        let object =
            #"{"_id":"x-1","a":1.50,"b":{"c":[1,2]},"location":{"_type":"point","lat":35.6,"lon":139.70}}"#
        #expect(try lines(text, ".geojson") == ["1: " + object])
        var options = ReadingOptions()
        options.mapping.pointField = "place"
        #expect(try lines(text, ".geojson", options: options)[0].contains("\"place\":{"))
    }

    @Test("A collection, a Feature, lines of Features and a text sequence give the same records")
    func layouts() throws {
        let features = (10...12).map {
            feature("{\"n\":\($0)}", id: "\($0)", geometry: point("[1,2]"))
        }
        let expected = try features.enumerated().map { index, text in
            "\(index + 1): " + (try lines(text, ".geojson")[0].dropFirst(3))
        }
        #expect(try lines(collection(features), ".geojson") == expected)
        #expect(try lines(features.joined(separator: "\n"), ".geojson") == expected)
        #expect(try lines(features.map { "\u{1E}\($0)\n" }.joined(), ".geojson") == expected)
        let foreign = collection(features).replacing(
            "{\"type\":\"FeatureCollection\",", with: "{\"bbox\":[1,[2]],"
        )
        .replacing("\n]}", with: "],\"type\":\"FeatureCollection\",\"x\":\"]}\"}")
        #expect(try lines(foreign, ".geojson") == expected)
    }

    @Test("A third coordinate becomes the altitude, unless a property is called so")
    func altitude() throws {
        let position = #""location":{"_type":"point","lat":2,"lon":1}"#
        #expect(
            try lines(feature(geometry: point("[1,2,30.5]")), ".geojson") == [
                "1: {\(position),\"altitude\":30.5}"
            ])
        #expect(
            try lines(feature("{\"altitude\":7}", geometry: point("[1,2,30.5]")), ".geojson")
                == ["1: {\"altitude\":7,\(position)}"])
    }

    @Test("A null or missing geometry is no point; null or missing properties are no fields")
    func nothing() throws {
        #expect(try lines(feature("{\"a\":1}"), ".geojson") == ["1: {\"a\":1}"])
        #expect(try lines("{\"type\":\"Feature\",\"properties\":null}", ".geojson") == ["1: {}"])
        #expect(try lines("{\"type\":\"Feature\"}", ".geojson") == ["1: {}"])
    }

    @Test("Members of a feature that GeoJSON does not know become fields")
    func foreignMembers() throws {
        let text = #"{"type":"Feature","bbox":[1,2,1,2],"title":"x","properties":{"a":1}}"#
        #expect(try lines(text, ".geojson") == [#"1: {"a":1,"title":"x"}"#])
    }

    @Test(
        "What is no loadable Feature is refused by itself, and the features behind it are read",
        arguments: [
            (
                #"{"type":"Feature","geometry":{"type":"LineString","coordinates":[[1,2],[3,4]]}}"#,
                "--geometry point"
            ),
            (
                #"{"type":"Feature","geometry":{"type":"MultiPoint","coordinates":[[1,2],[3,4,5]]}}"#,
                "coordinates[1]"
            ),
            (
                #"{"type":"Feature","geometry":{"type":"MultiPoint","coordinates":[[1,2],[139,95]]}}"#,
                "coordinates[1]"
            ),
            (#"{"type":"Feature","geometry":{"type":"MultiPoint"}}"#, "an array of positions"),
            (#"{"type":"Feature","id":[1],"properties":{}}"#, "id: "),
            (#"{"type":"Feature","id":"ab","properties":{"_id":"cd"}}"#, "id: "),
            (
                #"{"type":"Feature","geometry":{"type":"Point","coordinates":[139,95]}}"#,
                "latitude 95"
            ),
            (#"{"type":"Feature","geometry":{"type":"Point","coordinates":[1]}}"#, "coordinates"),
            (
                #"{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2,3,4]}}"#,
                "coordinates"
            ),
            (
                #"{"type":"Feature","geometry":{"type":"Point","coordinates":["1",2]}}"#,
                "coordinates"
            ),
            (#"{"type":"Feature","geometry":{"type":"Point"}}"#, "coordinates"),
            (#"{"type":"Feature","geometry":5}"#, "geometry: "),
            (#"{"type":"Feature","properties":[]}"#, "properties: "),
            (#"{"type":"Feature","properties":{"_x":1}}"#, "_x: "),
            (
                #"{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"location":1}}"#,
                "location"
            ),
            (#"{"type":"Point","coordinates":[1,2]}"#, "type: "), ("{}", "Feature"),
            (#"{"type":"Feature","properties":{"a":01}}"#, "not valid JSON"),
        ])
    func badFeatures(_ text: String, _ reason: String) throws {
        let good = feature("{\"a\":1}")
        for whole in [collection([good, text, good]), [good, text, good].joined(separator: "\n")] {
            let found = try lines(whole, ".geojson")
            #expect(found.count == 3 && found[0] == "1: {\"a\":1}" && found.last == "3: {\"a\":1}")
            #expect(found[1].hasPrefix("2! ") && found[1].contains(reason), "\(found[1])")
        }
    }

    @Test("Outside of a collection a line that cannot be followed costs that line alone")
    func brokenLines() throws {
        let good = feature("{\"a\":1}")
        for broken in ["{\"type\":\"Feature\",", "{\"type\":\"Feat", "hello", "[1,2]", "{5}", "}"] {
            let found = try lines([good, broken, good].joined(separator: "\n"), ".geojson")
            #expect(found.count == 3 && found.last == "3: {\"a\":1}", "\(broken): \(found)")
            #expect(found[1].hasPrefix("2! "))
        }
    }

    @Test("A collection that is cut off, or is none, is refused as a whole")
    func brokenCollections() {
        let whole = collection([feature(), feature("{\"a\":\"]}\"}")])
        for count in [60, whole.utf8.count - 20, whole.utf8.count - 4, whole.utf8.count - 2] {
            #expect(refusal(String(whole.prefix(count)), ".geojson")?.contains("truncated") == true)
        }
        #expect(refusal("{\"type\":\"FeatureCollection\",\"features\":[{} {}]}", ".geojson") != nil)
        for array in ["[{},]", "[,{}]", "[{}}"] {
            let text = "{\"type\":\"FeatureCollection\",\"features\":\(array)}"
            #expect(refusal(text, ".geojson")?.contains("expected") == true)
        }
        #expect(refusal("{\"features\":[]}", ".geojson")?.contains("FeatureCollection") == true)
        #expect(
            refusal("{\"type\":\"X\",\"features\":[],}", ".geojson")?.contains("FeatureCollection")
                == true)
    }

    @Test("A collection without features says so")
    func noFeatures() throws {
        let found = try lines("{\"type\":\"FeatureCollection\"}", ".geojson")
        #expect(found == ["1! features: is missing in the FeatureCollection"])
    }

    @Test("A collection far larger than the buffer is streamed")
    func large() throws {
        let features = (0..<20_000).map {
            feature("{\"n\":\($0),\"s\":\"[{\\\"\"}", geometry: point("[1,2]"))
        }
        let found = try lines(collection(features), ".geojson")
        #expect(found.count == 20_000)
        #expect(found[19_999].hasPrefix("20000: {\"n\":19999,\"s\":\"[{\\\"\","))
    }
}
