import TestSupport
import Testing

/// Strings are sequences of Unicode code points, compared as such everywhere.
@Suite struct StringRules {
    /// Ascending by code point. Several are equal to each other for `String`, none is here.
    static let ascending = [
        "", "\u{0}", "\u{0}a", "A", "Z", "a", "a\u{0}", "aA", "ab", "cafe", "cafe\u{301}",
        "caf\u{e9}", "e", "e\u{301}", "z", "\u{c5}", "\u{e9}", "\u{1100}\u{1161}",
        "\u{1e9b}\u{323}",
        "\u{212b}", "\u{ac00}", "\u{fb01}", "\u{ff5e}", "\u{ffff}", "\u{10000}", "\u{1f468}",
        "\u{1f468}\u{200d}\u{1f469}", "\u{1f600}", "\u{10ffff}",
    ]

    private static func quote(_ text: String) -> String { JSONValue.string(text).text }

    @Test func `The values of this suite ascend by code point`() {
        let points = Self.ascending.map { $0.unicodeScalars.map(\.value) }
        #expect(zip(points, points.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
    }

    @Test func `Strings are equal and ordered by code point`() async throws {
        let texts = Self.ascending
        try await TestService.with { service in
            let reversed = texts.indices.reversed().map { index in
                ("i\(index)", "\"s\":\(Self.quote(texts[index]))")
            }
            try await service.store(reversed)
            let all = texts.indices.map { "i\($0)" }
            let order = #""orderBy":"s""#
            #expect(try await service.ids(order: order) == all)
            #expect(
                try await service.ids(order: order + #","descending":true"#) == all.reversed())
            for (index, text) in texts.enumerated() {
                let value = Self.quote(text)
                let eq = #"{"type":"eq","field":"s","value":\#(value)}"#
                #expect(try await service.ids(eq) == ["i\(index)"], "\(value)")
                let isIn = #"{"type":"in","field":"s","values":[\#(value),1]}"#
                #expect(try await service.ids(isIn) == ["i\(index)"], "\(value)")
                let below =
                    #"{"type":"range","field":"s","upperLimit":\#(value),"upperIncluded":false}"#
                #expect(try await service.ids(below, order: order) == Array(all[..<index]))
            }
        }
    }

    @Test func `Beginnings and parts are found by code point, across grapheme clusters`()
        async throws
    {
        let texts = Self.ascending
        let scalars = texts.map { Array($0.unicodeScalars) }
        try await TestService.with { service in
            try await service.store(
                texts.indices.map { ("i\($0)", "\"s\":\(Self.quote(texts[$0]))") })
            for part in ["", "e", "\u{301}", "cafe", "\u{1f468}", "\u{200d}", "\u{1100}", "\u{0}"] {
                let wanted = Array(part.unicodeScalars)
                let beginning = texts.indices.filter { scalars[$0].starts(with: wanted) }
                let containing = texts.indices.filter { index in
                    scalars[index].indices.contains {
                        scalars[index][$0...].starts(with: wanted)
                    } || wanted.isEmpty
                }
                let value = Self.quote(part)
                let prefix = #"{"type":"prefix","field":"s","prefix":\#(value)}"#
                #expect(try await service.ids(prefix) == beginning.map { "i\($0)" }, "\(value)")
                let contains = #"{"type":"contains","field":"s","value":\#(value)}"#
                #expect(try await service.ids(contains) == containing.map { "i\($0)" }, "\(value)")
            }
        }
    }

    @Test func `A string is the same however it is escaped`() async throws {
        try await TestService.with { service in
            try await service.store(["o1": #""s":"\u0061\/😀""#, "o2": #""s":"a/\ud83d\uDE00""#])
            for value in [#""a/😀""#, #""a\/\uD83D\ude00""#] {
                #expect(
                    try await service.ids(#"{"type":"eq","field":"s","value":\#(value)}"#)
                        == ["o1", "o2"])
            }
            #expect(
                try await service.ids(#"{"type":"prefix","field":"\u0073","prefix":"a\u002f"}"#)
                    == ["o1", "o2"])
        }
    }

    @Test func `Field names are compared by code point`() async throws {
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
        try await TestService.with { service async throws in
            try await service.store([
                "o1":
                    #""\#(composed)":1,"\#(decomposed)":2,"x":{"\#(composed)":3,"\#(decomposed)":4}"#
            ])
            for (field, value) in [
                (composed, 1), (decomposed, 2), ("x.\(composed)", 3), ("x.\(decomposed)", 4),
            ] {
                let eq = #"{"type":"eq","field":"\#(field)","value":\#(value)}"#
                #expect(try await service.ids(eq) == ["o1"], "\(field)")
            }
            let patch = #"{"bucket":"b1","id":"o1","object":{"\#(decomposed)":null}}"#
            try await service.call("object.patch", patch)
            let page = try await service.text(
                "bucket.query", #"{"bucket":"b1","fields":["\#(composed)","\#(decomposed)"]}"#)
            #expect(page.utf8.contains(#"[{"_id":"o1","\#(composed)":1}]"#.utf8))
        }
    }

    @Test func `A name of a distance is compared by code point`() async throws {
        // The Kelvin sign is canonically equivalent to the letter K.
        let clause =
            #"{"type":"geodistance","field":"p","center":\#(point(0, 0)),"putDistanceInto":"K"}"#
        try await TestService.with { service async throws in
            #expect(
                try await service.queryOutcome(clause, order: #""orderBy":"_calculated.K""#)
                    == "accepted")
            #expect(
                try await service.queryOutcome(clause, order: #""orderBy":"_calculated.\u212a""#)
                    == "INVALID_INPUT_DATA bucketQuery.orderBy")
        }
    }

    @Test func `A long string is as searchable as a short one`() async throws {
        let long = String(repeating: "abcdefghi ", count: 600)
        try await TestService.with { service in
            try await service.store([
                "o1": "\"s\":\"\(long)b\"", "o2": "\"s\":\"\(long)a\"", "o3": "\"s\":\"\(long)a\"",
            ])
            #expect(
                try await service.ids(#"{"type":"eq","field":"s","value":"\#(long)a"}"#)
                    == ["o2", "o3"])
            #expect(
                try await service.ids(#"{"type":"prefix","field":"s","prefix":"\#(long)b"}"#)
                    == ["o1"])
            #expect(
                try await service.ids(#"{"type":"contains","field":"s","value":"i b"}"#) == ["o1"])
            #expect(try await service.ids(order: #""orderBy":"s""#) == ["o2", "o3", "o1"])
        }
    }
}

extension Sequence<UInt8> {
    /// Whether the bytes of another sequence occur in a row.
    func contains(_ part: some Collection<UInt8>) -> Bool {
        let (bytes, part) = (Array(self), Array(part))
        guard part.count <= bytes.count else { return false }
        return (0...(bytes.count - part.count)).contains {
            bytes[$0..<$0 + part.count].elementsEqual(part)
        }
    }
}
