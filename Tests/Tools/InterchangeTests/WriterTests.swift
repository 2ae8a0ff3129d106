import Interchange
import JSONText
import Testing

@Suite struct WriterTests {
    private let haneda =
        #"{"_id":"RJTT","_version":1,"name":"羽田","location":{"_type":"point","lat":35.50,"lon":139.7},"runways":4,"_calculated":{"distance":14432.1}}"#
    private let small = #"{"_id":"aa","name":"a,\"b\"","tags":[1,"x"],"open":true,"none":null}"#

    @Test("Without objects every text is complete")
    func empty() throws {
        #expect(try written(.ndjson, []) == "")
        #expect(try written(.json, []) == "[]\n")
        #expect(try written(.geojson, []) == "{\"type\":\"FeatureCollection\",\"features\":[\n]}\n")
        #expect(try written(.csv, []) == "")
        #expect(try written(.table, []) == "")
    }

    @Test("A list of columns is written as header even without objects")
    func emptyWithColumns() throws {
        var options = WritingOptions()
        options.columns = ["a", "b,c"]
        #expect(try written(.csv, [], options) == "a,\"b,c\"\r\n")
        #expect(try written(.table, [], options) == "a  b,c\n")
    }

    @Test("The columns of an empty table are those that are expected, and only of an empty one")
    func emptyWithExpectedColumns() throws {
        var options = WritingOptions()
        options.columnsIfEmpty = ["_id", "_calculated.distance"]
        #expect(try written(.table, [], options) == "_id  distance\n")
        #expect(try written(.table, [#"{"a":1}"#], options) == "a\n1\n")
        #expect(try written(.csv, [], options) == "")
    }

    @Test("On a terminal CSV has no characters that control it, elsewhere they stay")
    func csvOnTerminals() throws {
        let object = "{\"a\\u001b\":\"x\\u001b[31m\\u0007\\ny\\u202e\",\"b\":\"羽, \\u009b\"}"
        var options = WritingOptions()
        #expect(
            try written(.csv, [object], options)
                == "a\u{1B},b\r\n\"x\u{1B}[31m\u{7}\ny\u{202E}\",\"羽, \u{9B}\"\r\n")
        options.isForTerminal = true
        #expect(
            try written(.csv, [object], options)
                == "a\u{FFFD},b\r\nx\u{FFFD}[31m\u{FFFD} y\u{FFFD},\"羽, \u{FFFD}\"\r\n")
    }

    @Test("What is no object is refused by the writers that look inside")
    func noObject() {
        for format in [OutputFormat.csv, .geojson, .table] {
            #expect(throws: InterchangeError.self) { try written(format, ["[1]"]) }
            #expect(throws: InterchangeError.self) { try written(format, ["{"]) }
        }
    }

    @Test("NDJSON and JSON have one object on each line and change nothing in it")
    func json() throws {
        #expect(try written(.ndjson, [haneda, small]) == "\(haneda)\n\(small)\n")
        #expect(try written(.json, [haneda, small]) == "[\n  \(haneda),\n  \(small)\n]\n")
    }

    @Test("GeoJSON: _id is the id, the first GeoPoint the geometry, the rest properties")
    func geoJSON() throws {
        let text = try written(.geojson, [haneda, small])
        let lines = text.split(separator: "\n")
        #expect(
            lines[1]
                == #"{"type":"Feature","id":"RJTT","geometry":{"type":"Point","coordinates":[139.7,35.50]},"properties":{"_version":1,"name":"羽田","runways":4,"_calculated":{"distance":14432.1}}},"#
        )
        #expect(lines[2].contains("\"geometry\":null"))
        #expect(throws: Never.self) { try JSONParser.reading(Array(text.utf8)) { _ in } }
    }

    @Test("GeoJSON: location is the geometry where it is a point, whatever stands before it")
    func standardGeometry() throws {
        let home = #""home":{"_type":"point","lat":1,"lon":2}"#
        let there = #"{\#(home),"location":{"_type":"point","lat":3,"lon":4}}"#
        #expect(try written(.geojson, [there]).contains("\"coordinates\":[4,3]"))
        let text = #"{"location":"here",\#(home)}"#
        #expect(try written(.geojson, [text]).contains("\"coordinates\":[2,1]"))
    }

    @Test("GeoJSON: a chosen field is the geometry, also a nested one, and only if it is a point")
    func chosenGeometry() throws {
        let object =
            #"{"a":{"_type":"point","lat":1,"lon":2},"b":{"c":{"_type":"point","lat":3,"lon":4}}}"#
        var options = WritingOptions()
        options.pointField = "b.c"
        #expect(try written(.geojson, [object], options).contains("\"coordinates\":[4,3]"))
        options.pointField = "b"
        let text = try written(.geojson, [object], options)
        #expect(text.contains("\"geometry\":null") && text.contains("\"a\":{"))
    }

    @Test(
        "CSV: all columns in order of first appearance, points as two, null as empty, lists as JSON"
    )
    func csv() throws {
        #expect(
            try written(.csv, [haneda, small])
                == [
                    "_id,_version,name,location.lat,location.lon,runways,_calculated,tags,open,none",
                    "RJTT,1,羽田,35.50,139.7,4,\"{\"\"distance\"\":14432.1}\",,,",
                    "aa,,\"a,\"\"b\"\"\",,,,,\"[1,\"\"x\"\"]\",true,", "",
                ].joined(separator: "\r\n"))
    }

    @Test("CSV: with a list of columns rows are written at once, from any field path")
    func csvColumns() throws {
        var options = WritingOptions()
        options.columns = ["_calculated.distance", "location.lat", "name"]
        var writer = OutputFormat.csv.writer(options)
        var output: [UInt8] = []
        try writer.write(Array(haneda.utf8), to: &output)
        #expect(
            String(decoding: output, as: UTF8.self)
                == "_calculated.distance,location.lat,name\r\n14432.1,35.50,羽田\r\n")
        var columns = CSVColumns()
        try columns.add(Array(haneda.utf8))
        try columns.add(Array(#"{"name":1,"z":2}"#.utf8))
        #expect(columns.names.suffix(2) == ["_calculated", "z"])
    }

    @Test("CSV: a row of one empty cell is no empty line, so that it is read as a record")
    func csvEmptyRow() throws {
        let text = try written(.csv, ["{\"a\":null}", "{\"a\":1}"])
        #expect(text == "a\r\n\"\"\r\n1\r\n")
        #expect(try lines(text, ".csv") == ["2: {}", "3: {\"a\":1}"])
    }

    @Test("CSV: a field that is a point in some objects only has columns of both kinds, and loads")
    func csvMixedPoints() throws {
        let objects = [
            #"{"_id":"a1","p":\#(Self.point(1.5, 2.5))}"#, #"{"_id":"a2","p":"here"}"#,
            #"{"_id":"a3","p":null}"#, #"{"_id":"a4","p":{"lat":7,"lon":8}}"#,
            #"{"_id":"a5","p":\#(Self.point(-1.5, 0.5)),"q":1}"#,
        ]
        for order in [objects, objects.reversed()] {
            let text = try written(.csv, order)
            let found = try lines(text, ".csv").map { $0.drop { $0 != "{" } }.sorted()
            #expect(
                found == [
                    objects[0][...], objects[1][...], #"{"_id":"a3"}"#,
                    #"{"_id":"a4","p":"{\"lat\":7,\"lon\":8}"}"#, objects[4][...],
                ], "\(text)")
        }
        let header = try written(.csv, objects).prefix { $0 != "\r\n" }
        #expect(header == "_id,p.lat,p.lon,p,q")
    }

    @Test("CSV: a field named like half of a point, and one without a name, load")
    func csvOddNames() throws {
        let objects = [
            #"{"_id":"a1","p":\#(Self.point(1.5, 2.5))}"#,
            #"{"_id":"a2","p.lat":3,"p.lon":4}"#, #"{"_id":"a3","":"nameless"}"#,
            #"{"_id":"a4","":\#(Self.point(3.5, 4.5))}"#,
        ]
        let text = try written(.csv, objects)
        #expect(text.hasPrefix("_id,p.lat,p.lon,\"\",.lat,.lon\r\n"), "\(text)")
        let found = try lines(text, ".csv").map { $0.drop { $0 != "{" } }
        #expect(found[0] == objects[0] && found[2...] == [objects[2][...], objects[3][...]])
        #expect(found[1] == #"{"_id":"a2","p":{"_type":"point","lat":3,"lon":4}}"#)
        #expect(try lines(written(.csv, [#"{"":1}"#]), ".csv") == [#"2: {"":1}"#])
    }

    @Test(
        "What the CSV writer writes, the CSV reader reads back",
        arguments: 1...100 as ClosedRange<UInt64>)
    func csvRoundTrip(_ seed: UInt64) throws {
        var random = SplitMix(state: seed)
        // The first object has all columns, in the order that the objects have their fields in.
        let whole =
            #"{"_id":"id-0","a":"x","b,\"c\"":"x","d":"x","n":1,"t":true,"p":\#(Self.point(1, 2))}"#
        let objects = [whole] + (1...20).map { Self.object($0, &random) }
        let found = try lines(written(.csv, objects), ".csv")
        #expect(found.map { $0.drop { $0 != "{" } } == objects.map { $0[...] }, "seed \(seed)")
    }

    /// An object whose fields stand in one order and whose strings look like no other type.
    private static func object(_ number: Int, _ random: inout SplitMix) -> String {
        var members = ["\"_id\":\"id-\(number)\""]
        let parts = [",", "\\\"", "\\n", "\\r", "\\r\\n", " ", "é", "日本", "x", "\\\\", "\\t", ";"]
        for name in ["a", "b,\\\"c\\\"", "d"] where Bool.random(using: &random) {
            let text = (0..<4).map { _ in parts.randomElement(using: &random)! }.joined()
            members.append("\"\(name)\":\"s\(text)\"")
        }
        if Bool.random(using: &random) {
            members.append("\"n\":\(Int.random(in: -9...9, using: &random))")
        }
        if Bool.random(using: &random) { members.append("\"t\":\(Bool.random(using: &random))") }
        if Bool.random(using: &random) {
            let lat = Double.random(in: -90...90, using: &random)
            let lon = Double.random(in: -180...180, using: &random)
            members.append("\"p\":\(point(lat, lon))")
        }
        return "{\(members.joined(separator: ","))}"
    }

    private static func point(_ latitude: Double, _ longitude: Double) -> String {
        "{\"_type\":\"point\",\"lat\":\(latitude),\"lon\":\(longitude)}"
    }

    @Test("What the GeoJSON writer writes, the GeoJSON reader reads back")
    func geoJSONRoundTrip() throws {
        let object =
            #"{"_id":"ab","n":1.50,"o":{"p":[null]},"location":{"_type":"point","lat":1,"lon":-2.0}}"#
        let other = object.replacing("ab", with: "cd")
        #expect(
            try lines(written(.geojson, [object, other]), ".geojson") == [
                "1: " + object, "2: " + other,
            ])
        #expect(
            try lines(written(.geojson, [object, object]), ".geojson")[1]
                == #"2! _id: an earlier record has the id "ab" too"#)
        let several =
            #"{"_id":"ab","location":[{"_type":"point","lat":1,"lon":-2.0},{"_type":"point","lat":3,"lon":4}]}"#
        #expect(try lines(written(.geojson, [several]), ".geojson") == ["1: " + several])
    }

    @Test("GeoJSON: an array with points is a MultiPoint, and a property if it holds more")
    func multiPoint() throws {
        let point = #"{"_type":"point","lat":1,"lon":2.50}"#
        let only = try written(.geojson, [#"{"a":[1],"p":[\#(point),\#(point)]}"#])
        #expect(
            only.contains(
                #""geometry":{"type":"MultiPoint","coordinates":[[2.50,1],[2.50,1]]},"properties":{"a":[1]}}"#
            ))
        let mixed = try written(.geojson, [#"{"p":["x",\#(point)]}"#])
        #expect(
            mixed.contains(
                #"{"type":"MultiPoint","coordinates":[[2.50,1]]},"properties":{"p":["x",\#(point)]}}"#
            ))
        #expect(try written(.geojson, [#"{"p":[]}"#]).contains(#""geometry":null"#))
    }
}
