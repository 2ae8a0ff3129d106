import BackendContract
import Objects
import TestSupport
import Testing

/// Writes that are done only over what is older.
@Suite struct FreshnessTests {
    private static let at = FieldPath("fix.at")

    /// Values of a field from the least to the greatest; those of one line are equal.
    private static let ascending: [[String]] = [
        ["{}", #"{"fix":null}"#, #"{"fix":{}}"#, #"{"fix":{"at":null}}"#],
        [#"{"fix":{"at":false}}"#], [#"{"fix":{"at":true}}"#],
        [#"{"fix":{"at":-2.5}}"#], [#"{"fix":{"at":0}}"#, #"{"fix":{"at":-0.0}}"#],
        [#"{"fix":{"at":9007199254740992}}"#], [#"{"fix":{"at":9007199254740993}}"#],
        [#"{"fix":{"at":""}}"#], [#"{"fix":{"at":"2026-01-01"}}"#, #"{"fix.at":"2026-01-01"}"#],
        [#"{"fix":{"at":"2026-01-02"}}"#],
        [#"{"fix":{"at":{"_type":"point","lat":1,"lon":2}}}"#],
        [#"{"fix":{"at":[]}}"#, #"{"fix":{"at":[1]}}"#, #"{"fix":{"at":{"x":1}}}"#],
    ]

    @Test func `a put is done over whatever is less in the order of values`() throws {
        for (oldRank, olds) in Self.ascending.enumerated() {
            for (newRank, news) in Self.ascending.enumerated() {
                for (old, new) in zip(olds, news.reversed()) {
                    let court = Court()
                    _ = try court.result(of: try put("o", old))
                    let outcome = try court.outcome(of: try put("o", new, ifNewer: Self.at))
                    #expect(outcome == (newRank > oldRank ? "[2]" : "[kept 1]"), "\(old) \(new)")
                    #expect(court.text("o")!.hasSuffix(outcome == "[2]" ? rest(new) : rest(old)))
                }
            }
        }
    }

    /// A document's text behind its brace.
    private func rest(_ document: String) -> String {
        document == "{}" ? "}" : String(document.dropFirst())
    }

    @Test func `an object that is not there, or has expired, is older than any`() throws {
        var court = Court()
        #expect(
            try court.outcome(of: try put("o", "{}", expires: 1_500, ifNewer: Self.at)) == "[1]")
        court.now = 2_000
        #expect(try court.outcome(of: try put("o", "{}", ifNewer: Self.at)) == "[1]")
        let patch = patch("nobody", #"{"fix":{"at":1}}"#, ifNewer: Self.at)
        #expect(try court.outcome(of: patch) == "OBJECT_NOT_FOUND")
    }

    @Test func `a patch is judged by what it makes of the object`() throws {
        let court = Court()
        _ = try court.result(of: try put("o", #"{"fix":{"at":5,"by":"x"},"n":1}"#))
        for (text, outcome) in [
            (#"{"n":2}"#, "[kept 1]"), (#"{"n":2,"fix":{"at":5}}"#, "[kept 1]"),
            (#"{"fix":{"at":null}}"#, "[kept 1]"), (#"{"fix":{"at":6}}"#, "[2]"),
            (#"{"fix":{"at":6.5},"n":3}"#, "[3]"),
        ] {
            #expect(try court.outcome(of: patch("o", text, ifNewer: Self.at)) == outcome, "\(text)")
        }
        #expect(court.text("o")!.hasSuffix(#""fix":{"at":6.5,"by":"x"},"n":3}"#))
    }

    @Test func `a patch that is refused is refused whether or not it is late`() throws {
        let court = Court()
        _ = try court.result(of: try put("o", #"{"t":5,"deep":{"t":5}}"#))
        for (text, field, path) in [
            (#"{"t":1e400}"#, "t", "object.t"),
            (#"{"deep":{"t":-1e400}}"#, "deep.t", "object.deep.t"),
            (#"{"t":4,"deep":{"t":1e400}}"#, "t", "object.deep.t"),
            (#"{"t":{"_type":"point","lat":91,"lon":0}}"#, "t", "object.t.lat"),
        ] {
            let outcome = try court.outcome(of: patch("o", text, ifNewer: FieldPath(field)))
            #expect(outcome == "INVALID_INPUT_DATA \(path)", "\(text)")
        }
    }

    @Test func `an object that is not written needs no room for its points`() throws {
        var limits = Limits()
        limits.geoFields = 1
        let court = Court(limits: limits)
        let point = #"{"_type":"point","lat":1,"lon":2}"#
        _ = try court.result(of: try put("o", #"{"t":5,"p":\#(point)}"#))
        let late = try object(#"{"t":4,"q":\#(point)}"#, id: "o", ifNewer: FieldPath("t"))
        let new = try object(#"{"t":1}"#, id: "n", ifNewer: FieldPath("t"))
        #expect(
            try court.outcome(of: .putMany(bucket: shops, objects: [late, new])) == "[kept 1, 1]")
    }

    @Test func `of many objects each is judged by itself`() throws {
        let court = Court()
        _ = try court.result(of: try put("a", #"{"t":5}"#))
        _ = try court.result(of: try put("b", #"{"t":5}"#))
        let t = FieldPath("t")
        let objects = [
            try object(#"{"t":4}"#, id: "a", ifNewer: t),
            try object(#"{"t":6}"#, id: "b", ifNewer: t),
            try object(#"{"t":1}"#, id: "c", ifNewer: t),
        ]
        let write = Write.putMany(bucket: shops, objects: objects)
        #expect(try court.outcome(of: write) == "[kept 1, 2, 1]")
        #expect(try court.outcome(of: write) == "[kept 1, kept 2, kept 1]")
    }

    @Test func `versions are checked before`() throws {
        let court = Court()
        _ = try court.result(of: try put("o", #"{"t":5}"#))
        let t = FieldPath("t")
        #expect(
            try court.outcome(of: try put("o", #"{"t":4}"#, if: .version(2), ifNewer: t))
                == "OBJECT_VERSION_IS_STALE ifVersion")
        #expect(
            try court.outcome(of: try put("o", #"{"t":4}"#, if: .absent, ifNewer: t))
                == "OBJECT_ALREADY_EXISTS id")
        #expect(
            try court.outcome(of: patch("o", #"{"t":6}"#, ifVersion: 1, ifNewer: t)) == "[2]")
    }

    @Test func `a repeat under a key is told again that nothing was written`() throws {
        let court = Court()
        _ = try court.result(of: try put("o", #"{"t":5}"#))
        let late = try put("o", #"{"t":4}"#, ifNewer: FieldPath("t"))
        let key = RequestKey(text: "k", request: [1])
        #expect(try court.outcome(of: late, key: key) == "[kept 1]")
        _ = try court.result(of: try put("o", #"{"t":1}"#))
        #expect(try court.outcome(of: late, key: key) == "[kept 1]")
    }
}
