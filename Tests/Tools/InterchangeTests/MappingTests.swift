import Interchange
import JSONText
import Testing

/// What a mapping makes of records, whatever format they come in.
@Suite struct MappingTests {
    @Test(
        "Any text becomes a valid id by one rule",
        arguments: [
            ("k3xY7aB1cd", "k3xY7aB1cd"), ("a_b", "a_b"), ("1", "_31"), ("é", "_C3_A9"),
            ("_", "_5F"), ("node/240109189", "node_2F240109189"), ("a b_c", "a_20b_5Fc"),
            ("de:03404:71809::2", "de_3A03404_3A71809_3A_3A2"), ("10", "10"),
            (String(repeating: "a", count: 100), String(repeating: "a", count: 100)),
            (
                String(repeating: "a", count: 101),
                "9d0793397991b57a99a07c6e6b4a92bab68dbf605345cd0b87f385a448a726bc"
            ),
        ])
    func ids(_ text: String, _ id: String) {
        let made = EscapedID.text(text)
        #expect(made == id)
        #expect(EscapedID.isValid(made))
    }

    @Test("The flags that a mapping prints make the same mapping")
    func flags() throws {
        for text in [
            "location=lat,lng", "spot=spot", "coords=text:lat,lon", "p=geo:array:lon,lat",
            "p=a.b:text:lon,lat",
        ] {
            #expect(try PlaceRule(text).text == text)
        }
        var mapping = Mapping()
        mapping.places = [try PlaceRule("location=lat,lng")]
        mapping.id = IDRule("a,b")
        mapping.underscores = try UnderscoreRule("keep-as x_")
        mapping.renames = [try Mapping.Rename("a=b")]
        mapping.crs = ReferenceSystem("EPSG:3857")
        #expect(
            mapping.flags == [
                "--place", "location=lat,lng", "--id", "a,b", "--crs", "EPSG:3857",
                "--underscores", "keep-as=x_", "--rename", "a=b",
            ])
        for wrong in ["location", "a=b,c,d", "=a"] {
            #expect(throws: InterchangeError.self) { try PlaceRule(wrong) }
        }
    }

    private static let place = #""p":{"_type":"point","lat":48.5,"lon":2.25}"#

    @Test(
        "A place is read in every form",
        arguments: [
            #""48.5, 2.25""#, #""48.5 2.25""#, #""(48.5,2.25)""#, #""48,5; 2,25""#,
            #""geo:48.5,2.25;u=5""#, #"[2.25,48.5]"#, #"{"lat":48.5,"lon":2.25}"#,
            #"{"latitude":48.5,"longitude":2.25}"#, #"{"_latitude":48.5,"_longitude":2.25}"#,
            #"{"__type":"GeoPoint","latitude":48.5,"longitude":2.25}"#, #"{"x":2.25,"y":48.5}"#,
            #"{"type":"Point","coordinates":[2.25,48.5]}"#, #""POINT(2.25 48.5)""#,
            #""SRID=4326;POINT Z (2.25 48.5 7)""#,
            #""{\"type\":\"Point\",\"coordinates\":[2.25,48.5]}""#,
            #""0101000020E610000000000000000002400000000000404840""#,
            #""48°30'N 2°15'E""#, #""2°15'E, 48°30'N""#, #""N48°30' E2°15'""#,
            #""48.5° N, 2.25° E""#, #""48 30 0 N 2 15 0 E""#, #""N 48° 30.0 E 002° 15.0""#,
        ])
    func forms(_ value: String) throws {
        var options = ReadingOptions()
        options.mapping.places = [PlaceRule(field: "p", source: .value("p"))]
        let found = try lines("{\"p\":\(value),\"a\":1}", ".ndjson", options: options)
        #expect(found == ["1: {\(Self.place),\"a\":1}"])
    }

    @Test(
        "What is no place is refused, however much it looks like one",
        arguments: [
            "48:30:00:2:15:0\"E0\"N, 2°", "1:2:3:4:5:6:7:8, 1", "1d2'3:4:5, 2", "N, S",
            "48°61'N 2°E",
            "POINT(2)", "POINT(2,48)", "SRID=1;", "{",
        ])
    func noPlaces(_ text: String) throws {
        var options = ReadingOptions()
        options.mapping.places = [PlaceRule(field: "p", source: .value("p"))]
        let record = JSONValue.object(["p": .string(text)]).text
        let found = try lines(record, ".ndjson", options: options)
        #expect(found[0].hasPrefix("1! p"), "\(found)")
    }

    @Test(
        "Words in quotes are read back as they were",
        arguments: ["a b", "'", "'\u{301}x", "", "#a", "a\\b", "\"", "é", "a\nb", "--x=y"])
    func words(_ word: String) {
        #expect(FlagWords.split(" \(FlagWords.quoted(word)) # it") == [word])
        #expect(FlagWords.split("--a \"b c\"\\\n 'd'e") == ["--a", "b c", "de"])
    }

    @Test("Two possible places are none, and both are told")
    func rivals() throws {
        let file = TemporaryFile(#"{"lat":1.5,"lon":2.5,"geom":"POINT(1 2)"}"#, ".ndjson")
        let opened = try RecordFile(path: file.path, format: nil)
        #expect(opened.understanding.mapping.places.isEmpty)
        let warning = opened.understanding.warnings.joined()
        #expect(warning.contains("location=lat,lon") && warning.contains("geom=geom"), "\(warning)")
    }

    @Test("Names are stripped, kept with another beginning, renamed, chosen and flattened")
    func names() throws {
        let text = #"{"_id":"ab","_x":1,"b":{"c":2,"d":{"e":3}},"f":4}"#
        func mapped(_ change: (inout Mapping) throws -> Void) throws -> String {
            var options = ReadingOptions()
            try change(&options.mapping)
            return try lines(text, ".ndjson", options: options)[0]
        }
        #expect(try mapped { _ in }.contains("--underscores"))
        #expect(
            try mapped { $0.underscores = .strip }
                == #"1: {"_id":"ab","x":1,"b":{"c":2,"d":{"e":3}},"f":4}"#)
        #expect(try mapped { $0.underscores = .keep(as: "k_") }.contains(#""k_x":1"#))
        #expect(
            try mapped {
                $0.without = ["_x", "b.d.e"]
                $0.renames = [try Mapping.Rename("f=g")]
            } == #"1: {"_id":"ab","b":{"c":2},"g":4}"#)
        #expect(
            try mapped {
                $0.only = ["b"]
                $0.flattens = true
            } == #"1: {"_id":"ab","b.c":2,"b.d.e":3}"#)
    }

    @Test("Encodings are found out")
    func encodings() throws {
        let text = "name,lat,lon\nMünchen – Ost,48.125,11.5\n"
        let expected =
            #"2: {"name":"München – Ost","location":{"_type":"point","lat":48.125,"lon":11.5}}"#
        let units = Array(text.utf16)
        let little = units.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        let big = units.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        let windows = text.unicodeScalars.map { $0 == "–" ? 0x96 : UInt8($0.value) }
        for bytes in [[0xFF, 0xFE] + little, little, [0xFE, 0xFF] + big, big, windows] {
            let file = TemporaryFile(bytes, suffix: ".csv")
            #expect(try lines(of: RecordFile(path: file.path, format: nil)) == [expected])
        }
    }

    @Test("The array of records is found in one JSON object, or told")
    func records() throws {
        for name in ["results", "data", "whatever"] {
            let text = "{\"meta\":{\"n\":2},\"\(name)\":[{\"a\":1},\n{\"a\":2}]}"
            #expect(try lines(text, ".json") == ["1: {\"a\":1}", "2: {\"a\":2}"])
        }
        var options = ReadingOptions()
        options.records = "x.y"
        let text = #"{"data":[{"a":1}],"x":{"y":[{"b":2}]}}"#
        #expect(try lines(text, ".json", options: options) == ["1: {\"b\":2}"])
        options.records = "x.z"
        #expect(refusal(text, ".json", options: options)?.contains("\"x.y\"") == true)
    }

    @Test("A file of another kind is refused by name")
    func others() {
        for (text, name) in [
            ("SQLite format 3\0", "SQLite"), ("PAR1", "Parquet"), ("fgb\u{3}", "FlatGeobuf"),
            ("<?xml version=\"1.0\"?><osm/>", "OpenStreetMap"), ("<html></html>", "web page"),
            (#"{"type":"Topology","objects":{}}"#, "TopoJSON"),
        ] {
            #expect(refusal(text, ".json")?.contains(name) == true, "\(name)")
        }
    }

    @Test("Positions of other reference systems become degrees")
    func systems() throws {
        var options = ReadingOptions()
        options.mapping.crs = ReferenceSystem("EPSG:32632")
        let found = try lines("x,y\n691608,5334760\n", ".csv", options: options)
        #expect(
            found[0].contains("\"lat\":48.13") && found[0].contains("\"lon\":11.57"), "\(found)")
        #expect(ReferenceSystem("EPSG:28992") == nil)
    }
}
