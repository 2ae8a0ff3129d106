import BackendContract
import Objects
import Testing

/// Merge patches: what they leave, and when what they would leave is refused.
@Suite struct PatchTests {
    private func patched(_ document: String, _ text: String) throws -> String? {
        let court = Court()
        _ = try court.result(of: try put("o1", document))
        _ = try court.result(of: patch("o1", text)).get()
        return court.text("o1")?.components(after: #""_version":2"#)
    }

    @Test(arguments: [
        (#"{"a":1.0,"b":2}"#, #"{"c":3}"#, #","a":1.0,"b":2,"c":3}"#),
        (#"{"a":1,"b":2}"#, #"{"a":null}"#, #","b":2}"#),
        (#"{"a":1}"#, #"{"a":null}"#, "}"),
        (#"{"a":{"b":1,"c":2}}"#, #"{"a":{"b":null,"d":[null]}}"#, #","a":{"c":2,"d":[null]}}"#),
        (#"{"a":1}"#, #"{"_version":9,"_calculated":{"d":1}}"#, #","a":1}"#),
        (#"{"a":"\u0041"}"#, "{}", #","a":"\u0041"}"#),
    ])
    func `a patch merges, removes by null, and leaves the spelling of the rest`(
        document: String, text: String, expected: String
    ) throws {
        #expect(try patched(document, text) == expected)
    }

    @Test(arguments: [
        (#"{"a":1,"b":2}"#, #"{"a":null}"#, #"{"a":null,"b":2}"#),
        (
            #"{"a":{"b":1,"c":2}}"#, #"{"a":{"b":null},"d":{"e":null}}"#,
            #"{"a":{"b":null,"c":2},"d":{"e":null}}"#
        ),
        (#"{"a":null}"#, #"{"a":{"b":1}}"#, #"{"a":{"b":1}}"#),
        (#"{"a":1}"#, #"{"_id":null,"_version":9}"#, #"{"a":1}"#),
    ])
    func `a patch that stores nulls merges at every level, and removes nothing`(
        document: String, text: String, expected: String
    ) throws {
        let court = Court()
        _ = try court.result(of: try put("o1", document))
        let options: PatchOptions = [.storesNulls, .returnsObject]
        let answer = try court.result(of: patch("o1", text, options: options)).get()
        guard case .stored(let objects) = answer, let merged = objects.first?.document else {
            Issue.record("no object came back: \(answer)")
            return
        }
        #expect(String(decoding: merged, as: UTF8.self) == expected)
        #expect(
            court.text("o1")?.components(after: #""_version":2"#)?.dropFirst()
                == expected.dropFirst())
    }

    @Test(arguments: [
        (#"{"p":{"lat":91}}"#, "INVALID_INPUT_DATA object.p.lat"),
        (#"{"p":{"lon":null}}"#, "INVALID_INPUT_DATA object.p.lon"),
        (#"{"long":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}"#, "OBJECT_TOO_LARGE object"),
        (#"{"deep":[[[1]]]}"#, "INVALID_INPUT_DATA object.deep"),
        (points("q", "r"), "INVALID_INPUT_DATA object.r"),
    ])
    func `a patch whose outcome is no valid object is refused and changes nothing`(
        text: String, expected: String
    ) throws {
        var limits = Limits()
        limits.objectBytes = expected.hasPrefix("OBJECT") ? 80 : 200
        limits.objectDepth = 3
        limits.geoFields = 2
        let court = Court(limits: limits)
        _ = try court.result(of: try put("o1", points("p")))
        let before = court.text("o1")
        #expect(try court.outcome(of: patch("o1", text)) == expected)
        #expect(court.text("o1") == before)
    }

    @Test
    func
        `an object may have as many bytes as the limit, and a patch that leaves one more is refused`()
        throws
    {
        for (bytes, expected) in [(19, "OBJECT_TOO_LARGE object"), (20, "[2]"), (21, "[2]")] {
            var limits = Limits()
            limits.objectBytes = bytes
            let court = Court(limits: limits)
            _ = try court.result(of: try put("o1", #"{"a":1}"#))
            // {"a":1,"b":"123456"} has 20.
            let found = try court.outcome(of: patch("o1", #"{"b":"123456"}"#))
            #expect(found == expected, "\(bytes) bytes")
        }
    }

    @Test(
        arguments: [
            (.unchanged, 5_000), (.never, nil), (.at(7_000), 7_000),
        ] as [(Expiry, Int64?)])
    func `a patch leaves the expiry, ends it or moves it`(expiry: Expiry, expected: Int64?) throws {
        let court = Court()
        _ = try court.result(of: try put("o1", expires: 5_000))
        _ = try court.result(of: patch("o1", expiry: expiry))
        #expect(
            court.state.stored(ObjectID(trusted: "o1"), in: shops)?.metadata.expires == expected)
    }
}

extension String {
    /// What follows a part.
    fileprivate func components(after part: String) -> String? {
        firstRange(of: part).map { String(self[$0.upperBound...]) }
    }
}
