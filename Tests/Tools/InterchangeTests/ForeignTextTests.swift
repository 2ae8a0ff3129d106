import Glibc
import Interchange
import Testing

/// Texts as other programs leave them: encodings, pipes, files without a name that tells, and first
/// rows that are none.
@Suite struct ForeignTextTests {
    private static func inspected(_ bytes: [UInt8], _ suffix: String) throws -> RecordFile {
        let file = TemporaryFile(bytes, suffix: suffix)
        return try RecordFile(path: file.path, format: nil)
    }

    @Test("XML is read in the encoding that it declares, and refused in one that is not read")
    func declaredEncodings() throws {
        func gpx(_ encoding: String, _ name: [UInt8]) -> [UInt8] {
            Array(
                "<?xml version='1.0' encoding='\(encoding)'?><gpx><wpt lat='1' lon='2'><name>".utf8)
                + name + Array("</name></wpt></gpx>".utf8)
        }
        let expected =
            #"1: {"name":"é€","location":{"_type":"point","lat":1.0,"lon":2.0}}"#
        for (encoding, name) in [
            ("ISO-8859-1", [0xE9, 0x80]), ("windows-1252", [0xE9, 0x80]),
            ("UTF-8", Array("é€".utf8)),
        ] as [(String, [UInt8])] {
            let found = try lines(of: Self.inspected(gpx(encoding, name), ".gpx"))
            #expect(found == [expected], "\(encoding)")
        }
        for (encoding, word) in [("KOI8-R", "KOI8-R"), ("UTF-8", "line 1 of the XML")] {
            #expect {
                try Self.inspected(gpx(encoding, [0xE9]), ".gpx")
            } throws: { "\($0)".contains(word) }
        }
    }

    @Test("A stray NUL makes no UTF-16 of a table")
    func strayNUL() throws {
        let found = try lines("id,lat,lon\naa\u{0},1.5,2.5\n", ".csv")
        #expect(
            found == [#"2: {"id":"aa\u0000","location":{"_type":"point","lat":1.5,"lon":2.5}}"#])
    }

    @Test("A file whose name tells nothing is what it begins like, or refused")
    func namelessFiles() throws {
        let place = #""location":{"_type":"point","lat":1.5,"lon":2.5}"#
        for (text, format) in [
            ("{\"lat\":1.5,\"lon\":2.5}\n{\"lat\":1.5,\"lon\":2.5}\n", InputFormat.ndjson),
            ("[{\"lat\":1.5,\"lon\":2.5}]", .json), ("lat,lon\n1.5,2.5\n", .csv),
            (
                #"{"type":"Feature","geometry":{"type":"Point","coordinates":[2.5,1.5]}}"#,
                .geojson
            ),
        ] {
            let file = try Self.inspected(Array(text.utf8), ".data")
            #expect(file.format == format)
            #expect(try lines(of: file)[0].hasSuffix("{\(place)}"))
        }
        for text in ["a: 1\nb: 2\n", "Hello, all.\nThis is\na letter,\n"] {
            #expect(refusal(text, "")?.contains("plain text") == true, "\(text)")
        }
        #expect(refusal("\u{1}\u{2}\u{3}\n", ".dat")?.contains("--format") == true)
        #expect(refusal("BZh91AY", ".data")?.contains("bzip2") == true)
        #expect(refusal("<!-- <gpx> --><x/>", ".data")?.contains("XML") == true)
        #expect(try Self.inspected(Array("<k:kml/>".utf8), ".data").format == .kml)
    }

    @Test("What a pipe brings needs no name of its format")
    func namelessPipe() throws {
        for (text, format, count) in [
            (#"{"results":[{"a":1},{"a":2}]}"#, InputFormat.json, 2),
            ("lat;lon\n1,5;2,5\n", .csv, 1), ("{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n", .ndjson, 3),
        ] {
            let (content, place) = (TemporaryFile(text, ""), TemporaryFile("", ""))
            unlink(place.path)
            #expect(mkfifo(place.path, 0o600) == 0)
            // It writes, and goes, as soon as somebody reads.
            #expect(system("cat \(content.path) > \(place.path) &") == 0)
            let file = try RecordFile(path: place.path, format: nil)
            #expect(file.format == format)
            #expect(try lines(of: file).count == count)
        }
    }

    @Test("Lines that are still being written are lines, whatever arrays the first has")
    func waitingPipe() throws {
        let place = TemporaryFile("", "")
        unlink(place.path)
        #expect(mkfifo(place.path, 0o600) == 0)
        let pipe = open(place.path, O_RDWR | O_CLOEXEC)
        let line = "{\"items\":[{\"a\":1},{\"a\":2}]}\n"
        _ = write(pipe, line, line.utf8.count)
        let file = try RecordFile(path: place.path, format: nil)
        #expect(file.format == .ndjson)
        #expect(try file.next()?.number == 1)
        close(pipe)
    }

    @Test("Columns without a name are numbered, and told")
    func unnamedColumns() throws {
        let file = try Self.inspected(Array(",name,\n0,aa,x\n".utf8), ".csv")
        #expect(file.understanding.warnings.count == 2)
        #expect(try lines(of: file) == [#"2: {"column1":0,"name":"aa","column3":"x"}"#])
    }

    @Test("A first line that tells the separator is no row")
    func separatorLine() throws {
        for end in ["\n", "\r\n"] {
            let text = ["sep=;", "id;n", "a,b;1", ""].joined(separator: end)
            let found = try lines(text, ".csv")
            #expect(found == [#"3: {"id":"a,b","n":1}"#], "\(found)")
        }
    }

    @Test("Places that nearly all values tell are taken, and the others are faults")
    func mostlyPlaces() throws {
        let rows = (0..<20).map { "\($0),1.5,2.5\n" }.joined()
        let found = try lines("n,lat,lon\n\(rows)20,x,2.5\n", ".csv")
        #expect(found[0] == #"2: {"n":0,"location":{"_type":"point","lat":1.5,"lon":2.5}}"#)
        #expect(found[20].hasPrefix("22! lat: \"x\" is no number of degrees"))
        let rare = try Self.inspected(Array("n,lat,lon\n0,1.5,2.5\n1,x,2.5\n".utf8), ".csv")
        #expect(rare.understanding.mapping.places.isEmpty)
        let warning = rare.understanding.warnings.joined()
        #expect(warning.contains("1 of 2") && warning.contains("location=lat,lon"), "\(warning)")
        let texts = try lines("n,wkt\n1,POINT(2 1)\n2,POINT EMPTY\n", ".csv")
        #expect(
            texts == [#"2: {"n":1,"wkt":{"_type":"point","lat":1.0,"lon":2.0}}"#, #"3: {"n":2}"#])
        let angles = try lines("lat,lon\n48° 30' N,2 15 0 E\n", ".csv")
        #expect(angles == [#"2: {"location":{"_type":"point","lat":48.5,"lon":2.25}}"#])
    }

    @Test("An id that comes twice is refused in a file, and replaces the earlier in a stream")
    func repeatedIDs() throws {
        let text = "{\"_id\":\"ab\",\"n\":1}\n{\"_id\":\"ab\",\"n\":2}\n"
        #expect(try lines(text, ".ndjson")[1] == #"2! _id: an earlier record has the id "ab" too"#)
        // What was refused has no id yet.
        let mended = "id,lat,lon\nab,95,2.5\nab,9.5,2.5\n"
        var options = ReadingOptions()
        (options.mapping.id, options.skipsErrors) = (.fields(["id"]), true)
        let found = try lines(mended, ".csv", options: options)
        #expect(found[0].hasPrefix("2! lat: ") && found[1].hasPrefix("3: {"), "\(found)")
        let place = TemporaryFile("", ".ndjson")
        unlink(place.path)
        #expect(mkfifo(place.path, 0o600) == 0)
        let pipe = open(place.path, O_RDWR | O_CLOEXEC)
        _ = write(pipe, text, text.utf8.count)
        let file = try RecordFile(path: place.path, format: nil)
        for _ in 0..<2 { #expect(try file.next()?.result.get() != nil) }
        close(pipe)
        for text in [
            #"{"type":"Feature","id":1,"geometry":null,"properties":{"_id":"ab"}}"#,
            #"{"elements":[{"type":"node","id":1,"lat":1,"lon":2,"tags":{"_id":"ab"}}]}"#,
            #"{"_id":"ab","_source":{"_id":"cd"}}"#,
        ] {
            #expect(try lines(text, ".json")[0].contains("! _id: "), "\(text)")
        }
    }
}
