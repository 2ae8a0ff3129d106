import Interchange
import Testing

@Suite struct NDJSONReaderTests {
    @Test("Blank lines are skipped and counted; the last line needs no line break")
    func blankLines() throws {
        #expect(
            try lines("\n{\"a\":1}\r\n \t\n\n  {\"b\": 2} ", ".ndjson")
                == ["2: {\"a\":1}", "5: {\"b\": 2}"])
    }

    @Test("A byte order mark at the file's beginning is no part of the first line")
    func byteOrderMark() throws {
        #expect(try lines("\u{FEFF}{\"a\":1}\n", ".ndjson") == ["1: {\"a\":1}"])
        #expect(try lines("\u{FEFF}", ".ndjson") == [])
    }

    @Test(
        "What the service would refuse is refused with the line and the place, and reading goes on",
        arguments: [
            ("[1]", "expected a JSON object"), ("{\"a\":1", "not valid JSON"),
            ("{\"a\":01}", "not valid JSON"), ("{\"a\":1}{\"a\":2}", "not valid JSON"),
            ("{\"_x\":1}", "_x: "), ("{\"a\":1,\"a\":2}", "a: "), ("{\"a\":1e999}", "a: "),
            ("{\"p\":{\"_type\":\"point\",\"lat\":91,\"lon\":0}}", "p.lat: "),
            ("{\"p\":[{\"_type\":\"point\",\"lat\":1}]}", "p[0].lon: "),
            ("{\"_id\":true}", "_id: "), ("{\"_id\":[5]}", "_id: "),
            ("{\"a\":\"\(String(repeating: "x", count: 65_534))\"}", "65534"),
        ])
    func badLines(_ line: String, _ reason: String) throws {
        let found = try lines("{}\n\(line)\n{}\n", ".ndjson")
        #expect(found.count == 3 && found[0] == "1: {}" && found[2] == "3: {}")
        #expect(found[1].hasPrefix("2! ") && found[1].contains(reason), "\(found[1].prefix(200))")
    }

    @Test("Text that is not UTF-8 is a fault of its line alone")
    func encoding() throws {
        let bytes = Array("{\"a\":\"".utf8) + [0xFF] + Array("\"}\n{}\n".utf8)
        let content = TemporaryFile(bytes, suffix: ".ndjson")
        let found = try lines(of: RecordFile(path: content.path, format: nil))
        #expect(found == ["1! the text is not valid UTF-8, at byte 7", "2: {}"])
    }

    @Test("The text passes on unchanged: spelling of numbers, _id and predefined fields")
    func unchanged() throws {
        let text = "{\"_id\":\"aa\",\"_version\":3,\"n\": 1.50,\"m\":12345678901234567890}"
        #expect(try lines(text, ".ndjson") == ["1: " + text])
    }

    @Test("Lines across the edges of the buffer are read whole")
    func bufferEdges() throws {
        let expected = (1...60_000).map { number in
            "\(number): {\"n\":\(number),\"s\":\"\(String(repeating: "x", count: number % 97))\"}"
        }
        let text = expected.map { $0.drop { $0 != "{" } }.joined(separator: "\n")
        #expect(text.utf8.count > 3_000_000)
        #expect(try lines(text, ".ndjson") == expected)
        #expect(try lines(text, ".ndjson", compressed: true) == expected)
    }

    @Test("A line may have recordBytes - 1 bytes and its line break, and no more")
    func lineLimit() throws {
        var options = ReadingOptions()
        options.recordBytes = 100
        let fitting = "{\"a\":\"\(String(repeating: "x", count: 91))\"}"
        #expect(fitting.utf8.count == 99)
        #expect(try lines(fitting + "\n{}", ".ndjson", options: options).count == 2)
        #expect(
            refusal(fitting + "  \n{}", ".ndjson", options: options)?.contains("line 1") == true)
    }

    @Test("A line that is an array points to the format of arrays")
    func array() throws {
        let found = try lines("[{\"a\":1}]\n{\"a\":2}\n", ".ndjson")
        #expect(found[0].hasPrefix("1! expected a JSON object; --format json loads an array"))
        #expect(found[1] == "2: {\"a\":2}")
        #expect(try lines("[\n", ".ndjson")[0].contains("--format json"))
    }
}
