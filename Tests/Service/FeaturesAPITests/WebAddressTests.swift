import HTTPTypes
import TestSupport
import Testing
import WebExchange

/// Paths and queries as requests have them, and as links tell them.
@Suite struct WebAddressTests {
    /// Texts with all that has a meaning somewhere in an address.
    private static func text(_ random: inout SplitMix64) -> String {
        let pieces = [
            "a", "Z", "0", "-", ".", "_", "~", "@", ",", ":", "/", "?", "#", "&", "=", "+", "%",
            "%41", " ", "\"", "\\", "\n", "\u{0}", "\u{7F}", "é", "e\u{301}", "日", "😀", "\u{FEFF}",
        ]
        return (0..<1 + random.below(6)).map { _ in random.pick(pieces) }.joined()
    }

    @Test(arguments: Seeds.first(200))
    func `What is encoded for an address is read from it as it was`(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let path = (0..<1 + random.below(3)).map { _ in Self.text(&random) }
        let query = (0..<random.below(3)).map { _ in (Self.text(&random), Self.text(&random)) }
        let target =
            "/" + path.map(percentEncoded).joined(separator: "/") + "?"
            + query.map { "\(percentEncoded($0.0))=\(percentEncoded($0.1))" }.joined(separator: "&")
        #expect(target.utf8.allSatisfy { (0x21...0x7E).contains($0) })
        let request = WebRequest(.get, target)
        let bytes = { (text: String) in Array(text.utf8) }
        #expect(request.path.map(bytes) == path.map(bytes), "seed \(seed): \(target)")
        let found = request.query.map { [bytes($0.name), bytes($0.value)] }
        #expect(
            found == query.map { [bytes($0.0), bytes($0.1)] }, "seed \(seed): \(target)")
    }

    @Test(arguments: [
        ("/", [], ""), ("", [], ""), ("//", [], ""), ("/a", ["a"], ""), ("/a/", ["a", ""], ""),
        ("//a//b", ["a", "", "b"], ""), ("/a%2Fb/c", ["a/b", "c"], ""), ("/a+b", ["a+b"], ""),
        ("/%", ["%"], ""), ("/%4", ["%4"], ""), ("/%4g%41", ["%4g%41"], ""),
        ("/%+1", ["%+1"], ""), ("/%-1", ["%-1"], ""), ("/%ff", ["%ff"], ""),
        ("/%C3%A9", ["é"], ""), ("/a?", ["a"], ""), ("/a?b", ["a"], "b="),
        ("/a?b=", ["a"], "b="), ("/a?b=c=d", ["a"], "b=c=d"), ("/?a=1&&b=2&", [], "a=1;b=2"),
        ("/?=x", [], "=x"), ("/?a+b=c+d%2B", [], "a b=c d+"), ("/?a=1?b", [], "a=1?b"),
        ("/?a=%E2%82", [], "a=%E2%82"), ("/?a=1&a=2", [], "a=1;a=2"),
    ])
    func `An address is read segment by segment and parameter by parameter`(
        _ target: String, _ path: [String], _ query: String
    ) {
        let request = WebRequest(.get, target)
        #expect(request.path == path)
        #expect(request.query.map { "\($0.name)=\($0.value)" }.joined(separator: ";") == query)
        #expect(request.target == target)
    }

    @Test(arguments: [
        (nil, ""), ("application/json", "application/json"),
        ("Application/JSON ; charset=utf-8", "application/json"), ("\t text/plain\t", "text/plain"),
        (";", ""), ("a;b;c", "a"),
    ])
    func `A body's type is told without its parameters`(_ field: String?, _ type: String) {
        let headers: HTTPFields = field.map { [.contentType: $0] } ?? [:]
        #expect(WebRequest(.post, "/", headers: headers).mediaType == type)
    }

    @Test(arguments: [
        (nil, false), (#""tag""#, true), (#"W/"tag""#, true), (#""x", "tag""#, true), ("*", true),
        (#""x" , W/"tag""#, true), (#""Tag""#, false), (#""tag2""#, false), ("", false),
    ])
    func `A client has an answer if it names its tag, among others or weakly`(
        _ field: String?, _ isKnown: Bool
    ) {
        let headers: HTTPFields = field.map { [.ifNoneMatch: $0] } ?? [:]
        #expect(WebRequest(.get, "/", headers: headers).knows(tag: "tag") == isKnown)
    }

    @Test(
        arguments: [
            ("QQ==", [65]), ("QQ", [65]), ("QUI=", [65, 66]), ("", []), ("+/+/", [251, 255, 191]),
            ("QQ==x", nil), ("Q=Q=", nil), ("-_-_", nil), ("Q", nil),
        ] as [(String, [UInt8]?)])
    func `Base64 is read as it is written in Authorization`(_ text: String, _ bytes: [UInt8]?) {
        #expect(Base64.decode(text) == bytes)
    }

    @Test(arguments: ["a=1&b=2", "b=2", ""])
    func `Parameters that a path takes are taken once`(_ query: String) throws {
        try WebRequest(.get, "/x?" + query).check(["a", "b"])
        for (more, fault) in [("c=1", "c"), ("b=3&b=2", "b"), ("=", ""), ("A=1", "A")] {
            #expect {
                try WebRequest(.get, "/x?\(query)&\(more)").check(["a", "b"])
            } throws: { error in
                let failure = error as? WebFailure
                return failure?.status == .badRequest && failure?.path == fault
            }
        }
    }
}
