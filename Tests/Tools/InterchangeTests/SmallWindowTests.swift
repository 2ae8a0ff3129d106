import Interchange
import JSONText
import Testing

/// Readers whose buffer holds little more than one record. Where its edges lie changes nothing.
@Suite struct SmallWindowTests {
    /// Texts with all that a reader could cut in two, each with its format.
    private static let texts: [(name: String, text: String)] = [
        (
            "ndjson",
            "\u{FEFF}{\"a\":\"é漢\"}\r\n\n \t\n{\"b\":[1,{\"c\":\"}\\\"\"}]}\n{bad}\n  {\"d\":2} "
        ),
        ("json", "\u{FEFF}\n[ {\"a\":\"]},\\\\\"} ,\n2,{\"b\" : [ ] }\n,{\"c\":tru}, {} ]\n\t "),
        (
            "csv",
            "\u{FEFF}a,\"b\"\"c\"\r\n1,\"x\r\n\"\"y\"\"\"\r\n\r\n漢,é\n\"q\"z,1\n1\n,\"\"\n2,last"
        ),
        ("tsv", "p.lat\tp.lon\n1.5\t-2\n\t\n1\t\n9\t8"),
        (
            "geojson",
            """
            {"type":"Feature","properties":{"a":"{é"}}
            \u{1E}{"type":"Feature",
            "properties":{"b":[1,2]}}
            hello
            {"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]}}
            """
        ),
        (
            "geojson",
            """
            {"bbox":[1,[2]],"type":"FeatureCollection", "features" : [
            {"type":"Feature","properties":{"a":"]}\\\\"}} , {"type":"X"},
             {"type":"Feature","id":"ab"}
             ] ,"x":"]}"}
            {"type":"Feature","properties":{"n":1}}
            """
        ),
    ]

    private static func outcome(_ text: String, _ name: String, recordBytes: Int?) -> [String] {
        var options = ReadingOptions()
        if let recordBytes { options.recordBytes = recordBytes }
        do {
            return try lines(text, ".\(name)", options: options)
        } catch {
            return ["\(error)"]
        }
    }

    @Test(arguments: texts.indices)
    func `A text is read the same however little of it the buffer holds`(_ number: Int) {
        let (name, text) = Self.texts[number]
        let whole = Self.outcome(text, name, recordBytes: nil)
        #expect(whole.count >= 3 && whole.contains { $0.contains("! ") }, "\(whole)")
        let bytes = text.utf8.count
        // From some size on every record fits; below it the reader says that one does not.
        let least = (1...bytes).first { Self.outcome(text, name, recordBytes: $0) == whole } ?? 0
        #expect((1..<bytes * 3 / 4).contains(least), "\(least) of \(bytes) bytes")
        for size in least...bytes + 1 {
            #expect(Self.outcome(text, name, recordBytes: size) == whole, "\(size) bytes")
        }
        for size in 1..<least {
            let found = Self.outcome(text, name, recordBytes: size)
            #expect(found != whole && !found.isEmpty, "\(size) bytes: \(found)")
        }
    }

    @Test(
        arguments: [
            ("ndjson", "{\"a\":\"", "\"}\n{\"b\":1}\n"), ("json", "[{\"a\":\"", "\"},{\"b\":1}]"),
            ("csv", "a,b\n", ",\n,1\n"), ("csv", "a,b\n\"", "\",\n,1\n"),
            ("geojson", #"{"type":"Feature","properties":{"a":""#, "\"}}\n" + next),
            ("geojson", #"{"features":[{"type":"Feature","properties":{"a":""#, "\"}}," + last),
        ])
    func `A record larger than the first buffer is read whole, and what follows it`(
        _ name: String, _ before: String, _ after: String
    ) throws {
        var options = ReadingOptions()
        options.limits.documentSize = DocumentSize(characters: 1 << 24, bytes: 1 << 24)
        // The buffer begins with 1 MiB.
        let value = String(repeating: "0123456789x漢", count: 80_000)
        let found = try lines(before + value + after, ".\(name)", options: options)
        let first = name == "csv" ? 2 : 1
        let expected = ["\(first): {\"a\":\"\(value)\"}", "\(first + 1): {\"b\":1}"]
        #expect(found == expected, "\(found.map { $0.prefix(100) })")
    }

    private static let next = #"{"type":"Feature","properties":{"b":1}}"#
    private static let last = next + #"],"type":"FeatureCollection"}"#

    @Test(arguments: [
        ("ndjson", "{}\n{\"a\":\"", "line 2 is longer than 1000 bytes"),
        ("json", "[{},{\"a\":\"", "element 2 is longer than 1000 bytes"),
        ("csv", "a\nx\n\"", "the record of line 3 is longer than 1000 bytes"),
        ("geojson", "{\"features\":[{},{\"a\":\"", "feature 2 is longer than 1000 bytes"),
    ])
    func `A record above the limit ends the reading, and is named`(
        _ name: String, _ before: String, _ message: String
    ) {
        var options = ReadingOptions()
        options.recordBytes = 1_000
        let text = before + String(repeating: "x", count: 2_000)
        let refused = refusal(text, ".\(name)", options: options)
        #expect(refused?.contains(message) == true, "\(refused ?? "nothing")")
    }

    @Test func `Outside of a collection a text above the limit costs its line alone`() throws {
        var options = ReadingOptions()
        options.recordBytes = 200
        let good = #"{"type":"Feature","properties":{"a":1}}"#
        let long = "{\"type\":\"Feature\",\"x\":\"" + String(repeating: "x", count: 190)
        let found = try lines(
            [good, long, good].joined(separator: "\n"), ".geojson", options: options)
        #expect(found.first == "1: {\"a\":1}" && found.last?.hasSuffix(": {\"a\":1}") == true)
        #expect(found.dropFirst().dropLast().allSatisfy { $0.contains("! ") }, "\(found)")
    }
}
