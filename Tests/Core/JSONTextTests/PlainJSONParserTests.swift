import FuzzTargets
import JSONText
import TestSupport
import Testing

/// The parser in plain Swift does what the one on simdjson does.
@Suite struct PlainJSONParserTests {
    private static let texts = [
        #" { "a" : [ 1 , -0 , 0.5 , 1e400 , -1e-400 ] , "" : { } , "a" : null } "#,
        #"[true,false,null,"é😀\u00e9\ud83d\ude00\u0000\"\\\/\b\f\n\r\t",[],{}]"#,
        "[9223372036854775807,-9223372036854775808,18446744073709551615,18446744073709551616]",
        #"{"jsonrpc":"2.0","id":7,"result":{"results":[{"_id":"o1","d":12.10}]}}"#,
        #"{"\u005f\u0069d":"\uD834\uDD1E","n":1E+2,"m":123456789012345678901234567890}"#,
    ]

    private static func isRefused(_ text: String) -> Bool {
        (try? PlainJSONParser.reading(Array(text.utf8)) { _ in }) == nil
    }

    @Test(arguments: texts) func `What is JSON has the same nodes`(_ text: String) {
        #expect(!Self.isRefused(text))
        #expect(ParserAgreement.difference(Array(text.utf8)) == nil)
    }

    @Test(arguments: [
        "", " ", "\u{FEFF}[]", "[1,]", "{,}", "[1 2]", #"{"a" 1}"#, #"{"a":1,}"#, #"{1:1}"#, "[",
        "}",
        "[}", "nul", "nulll", "[tru]", "01", "-", "+1", ".5", "1.", "1e", "1e+", "0x1", "NaN",
        "1 1",
        #"""#, #""\"#, #""\x""#, #""\u12g4""#, #""\u+123""#, #""\u12""#, #""\ud800""#, #""\udc00""#,
        #""\ud800\u0041""#, #""\ud800\n""#, "\"\n\"", "\"\u{1}\"", "'a'", "[1]x",
    ])
    func `What is no JSON is refused by both`(_ text: String) {
        #expect(Self.isRefused(text))
        #expect(ParserAgreement.difference(Array(text.utf8)) == nil)
    }

    @Test func `What is not UTF-8 is told so`() {
        for text in [[0x22, 0xFF, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22]] as [[UInt8]] {
            #expect(throws: JSONSyntaxError.notUTF8(at: nil)) {
                try PlainJSONParser.reading(text) { _ in }
            }
        }
    }

    @Test func `A fault is told with its place`() {
        #expect(throws: JSONSyntaxError.notJSON(at: 4)) {
            try JSONValue(parsing: #"{"a"1}"#)
        }
    }

    @Test(arguments: [("[", "]"), (#"{"a":"#, "}")])
    func `Nesting is bounded as in the other parser`(_ open: String, _ close: String) {
        func nested(_ levels: Int) -> [UInt8] {
            let ends = [open, close].map { String(repeating: $0, count: levels) }
            return Array((ends[0] + "1" + ends[1]).utf8)
        }
        #expect(!Self.isRefused(String(decoding: nested(1_010), as: UTF8.self)))
        for levels in [1_010, 1_011] {
            #expect(ParserAgreement.difference(nested(levels)) == nil)
        }
        let position = 1_010 * open.utf8.count
        #expect(throws: JSONSyntaxError.tooDeep(at: position)) {
            try PlainJSONParser.reading(nested(1_011)) { _ in }
        }
    }

    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `Both parsers agree on texts with faults`(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<500 {
            var text = Array(Self.texts[random.below(Self.texts.count)].utf8)
            for _ in 0...random.below(3) { Self.change(&text, &random) }
            let difference = ParserAgreement.difference(text)
            #expect(
                difference == nil, "seed \(seed): \(String(decoding: text, as: UTF8.self))")
        }
    }

    /// Removes, doubles or replaces some bytes.
    private static func change(_ text: inout [UInt8], _ random: inout SplitMix64) {
        guard !text.isEmpty else { return }
        let start = random.below(text.count)
        let range = start..<min(text.count, start + 1 + random.below(3))
        switch random.below(4) {
        case 0: text.removeSubrange(range)
        case 1: text.insert(contentsOf: text[range], at: start)
        case 2:
            text[start] = [UInt8](#"{}[]",:\0-+.eEu \#u{80}"#.utf8).randomElement(using: &random)!
        default: text[start] = UInt8(random.below(256))
        }
    }
}
