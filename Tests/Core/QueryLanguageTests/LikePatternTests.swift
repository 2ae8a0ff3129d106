import Objects
import QueryLanguage
import TestSupport
import Testing

/// Patterns against their definition, and what they cost.
@Suite struct LikePatternTests {
    private static let alphabet = ["a", "a", "b", "A", "é", "É", "ß", "ẞ", "日", "%", "_", "\\"]

    @Test(arguments: Seeds.first(8))
    func `a pattern matches the texts that its definition says`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<3_000 {
            let text = (0..<random.below(10)).map { _ in random.pick(Self.alphabet) }.joined()
            var pattern = ""
            for _ in 0..<random.below(8) {
                let character = random.pick(Self.alphabet)
                switch random.below(4) {
                case 0: pattern += "%"
                case 1: pattern += "_"
                case 2: pattern += character == "\\" ? "a" : character
                default: pattern += "\\" + character
                }
            }
            let ignoresCase = random.oneIn(2)
            let found = try LikePattern(Array(pattern.utf8), ignoringCase: ignoresCase)
                .matches(text)
            let expected = OraclePattern(pattern, ignoringCase: ignoresCase).matches(text)
            #expect(found == expected, "seed \(seed): \(text) LIKE \(pattern) \(ignoresCase)")
        }
    }

    @Test(arguments: [
        ("", "", true), ("", "a", false), ("%", "", true), ("_", "", false), ("a%a", "a", false),
        ("%ab%b", "ab", false), ("%ab%b", "abb", true), ("%a_b%", "aab", true),
        ("%a_b%c", "xa日bc", true), ("%__%", "é", false), ("%__%", "éa", true),
        ("a__%__b", "a123b", false), ("a__%__b", "a1234b", true), (#"50\%"#, "50%", true),
        (#"50\%"#, "500", false), (#"\\%"#, #"\x"#, true), ("%a_c%a_c", "abcxabc", true),
        ("%a_c%a_c", "abcbc", false), ("_\u{0301}", "e\u{0301}", true), ("é", "e\u{0301}", false),
    ])
    func `a pattern of one form or another`(
        _ pattern: String, _ text: String, _ matches: Bool
    ) throws {
        #expect(try LikePattern(Array(pattern.utf8)).matches(text) == matches)
    }

    @Test(arguments: [
        ("STRASSE", "Straße"), ("ΣΊΣΥΦΟΣ", "Σίσυφος"), ("ǅ", "ǆ"), ("K", "\u{212A}"), ("ﬀ", "FF"),
        ("ꭰ", "Ꭰ"), ("İ", "i\u{307}"), ("𐐀", "𐐨"), ("ſ", "S"),
    ])
    func `case is folded as Unicode does it`(_ a: String, _ b: String) throws {
        #expect(CaseFolding.folded(a) == CaseFolding.folded(b))
        #expect(CaseFolding.folded(CaseFolding.folded(a)) == CaseFolding.folded(a))
        let pattern = try LikePattern(Array(a.utf8), ignoringCase: true)
        #expect(pattern.matches(b))
        #expect(try !LikePattern(Array(a.utf8)).matches(b))
    }

    @Test func `the dotless i is another letter`() {
        #expect(CaseFolding.folded("ı") != CaseFolding.folded("I"))
    }

    @Test(arguments: [62, 63])
    func `as many characters are searched for as a word has bits`(_ others: Int) {
        func isValid(_ pattern: String) -> Bool { (try? LikePattern(Array(pattern.utf8))) != nil }
        let long = "a_" + String(repeating: "é", count: others)
        #expect(isValid("%\(long)%") == (others == 62))
        // What stands at an end, or has no "_" inside, is compared and not searched for.
        #expect(isValid("\(long)%") && isValid("%\(long)") && isValid(long))
        #expect(isValid("%__\(String(repeating: "é", count: 100))__%"))
        #expect(!isValid("a\\"))
    }

    @Test(arguments: ["%a_b%", "%aab%", "%a_a_a_a_b%", "_%_%_%_%_b", "%a%a%a%a%a%a%a%a%b"])
    func `a test takes time in proportion to the text`(_ pattern: String) throws {
        let pattern = try LikePattern(Array(pattern.utf8), ignoringCase: true)
        let clock = ContinuousClock()
        func time(_ count: Int) -> Duration {
            let text = Array(String(repeating: "a", count: count).utf8)
            return (0..<5).map { _ in
                clock.measure { text.withUnsafeBufferPointer { #expect(!pattern.matches($0)) } }
            }.min()!
        }
        // Sixteen times as long would be 256 times as much if it were quadratic.
        #expect(time(1_000_000) < time(62_500) * 100 + .milliseconds(20))
    }

    @Test func `a row of wildcards is one, and too many texts are refused`() throws {
        let row = [UInt8](repeating: UInt8(ascii: "%"), count: 1_000_000)
        let pattern = try LikePattern(row + Array("x".utf8))
        #expect(pattern.matches("abx") && !pattern.matches("abxy"))
        let clause = try LikePattern(Array("ab%%%".utf8)).clause(of: FieldPath("f"))
        guard case .prefix(_, let text) = clause else {
            Issue.record("no prefix")
            return
        }
        #expect(text == Array("ab".utf8))
        let texts = { (count: Int) in Array(String(repeating: "a%", count: count).utf8) }
        #expect(try LikePattern(texts(999)).matches(String(repeating: "ab", count: 1_000)))
        #expect(throws: InvalidPattern.self) { try LikePattern(texts(1_001)) }
    }
}
