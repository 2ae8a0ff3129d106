import Interchange
import Testing

@Suite struct JSONArrayReaderTests {
    @Test("An array is read element by element, on whatever lines they stand")
    func elements() throws {
        let text = "\u{FEFF} [ {\"a\": 1 },\n{\n \"a\" : \"]}\" , \"b\":[{}]\n}\n,{}]\n \n"
        let expected = ["1: {\"a\":1}", #"2: {"a":"]}","b":[{}]}"#, "3: {}"]
        #expect(try lines(text, ".json") == expected)
        #expect(try lines(text, ".txt", format: .json) == expected)
        #expect(try lines(text, ".json", compressed: true) == expected)
    }

    @Test("What the JSON writer writes is read back")
    func roundTrip() throws {
        for count in [0, 1, 3] {
            let objects = (0..<count).map { "{\"_id\":\"id-\($0)\",\"n\":\($0)}" }
            let expected = zip(1..., objects).map { "\($0): \($1)" }
            #expect(try lines(written(.json, objects), ".json") == expected)
        }
    }

    @Test("An element that is no object is a fault of its own")
    func faults() throws {
        let found = try lines(#"[{"a":1},2,{"a":1,"a":2},{"a":tru},[],{"b":1]]"#, ".json")
        let expected = [
            "1: {\"a\":1}", "2! expected a JSON object",
            #"3! a: the name "a" stands here twice"#, "4! the text is not valid JSON",
            "5! expected a JSON object", "6! the text is not valid JSON",
        ]
        #expect(found.count == expected.count)
        for (found, expected) in zip(found, expected) {
            #expect(found.hasPrefix(expected), "\(found)")
        }
    }

    @Test(
        "An array that is not whole ends the reading with a sentence",
        arguments: [
            ("[", "truncated after element 0"), ("[{}", "truncated after element 1"),
            ("[{},", "truncated after element 1"), ("[{\"a\":", "truncated after element 0"),
            ("[{} {}]", "expected ',' or ']' after element 1"), ("[,{}]", "expected element 1"),
            ("[{},]", "expected element 2"), ("[{}]x", "behind the array"),
            ("[{}],[{}]", "behind the array"),
        ])
    func broken(_ text: String, _ reason: String) {
        #expect(refusal(text, ".json")?.contains(reason) == true, "\(refusal(text, ".json") ?? "")")
    }

    @Test("What does not begin with a bracket is no array; an empty file has no elements")
    func beginnings() throws {
        #expect(refusal("5", ".txt", format: .json)?.contains("expected an array") == true)
        #expect(try lines("{\"a\":\n1}", ".txt", format: .json) == ["1: {\"a\":1}"])
        #expect(try lines("", ".txt", format: .json) == [])
        #expect(try lines(" \n", ".txt", format: .json) == [])
    }

    @Test("Arrays longer than the buffer are read whole; an element may not be")
    func long() throws {
        let pad = String(repeating: "x", count: 1_000)
        let text =
            "[" + (1...3_000).map { "{\"n\":\($0),\"s\":\"\(pad)\"}" }.joined(separator: ",\n")
            + "]"
        let found = try lines(text, ".json")
        #expect(found.count == 3_000 && found[2_999].hasPrefix("3000: {\"n\":3000"))
        var options = ReadingOptions()
        options.recordBytes = 1_000
        #expect(
            refusal(text, ".json", options: options)?.contains("element 1 is longer than") == true)
    }
}
