import FuzzTargets
import JSONText
import TestSupport
import Testing

/// Escapes in strings, all of them, in both parsers.
@Suite struct EscapeTests {
    private static func escape(_ unit: Int, _ isUpper: Bool = false) -> String {
        let digits = String(unit, radix: 16, uppercase: isUpper)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }

    /// What both parsers read; nil if both refuse it.
    private static func read(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        let difference = ParserAgreement.difference(bytes)
        #expect(difference == nil, "\(text): \(difference ?? "")")
        return try? JSONValue(parsing: bytes)[0]?.string
    }

    @Test(arguments: 0..<16)
    func `an escape is its code point, a surrogate alone is refused`(_ high: Int) {
        var (text, expected) = ("", String.UnicodeScalarView())
        for unit in (high << 12)..<(high + 1) << 12 {
            guard let scalar = Unicode.Scalar(UInt32(unit)) else {
                // A high one too is followed by something else.
                let alone = Self.escape(unit)
                if unit % 16 == 0 {
                    #expect(Self.read(#"["\#(alone)"]"#) == nil, "\(alone)")
                    #expect(Self.read(#"["\#(alone)x"]"#) == nil, "\(alone)")
                }
                continue
            }
            text += Self.escape(unit, unit % 3 == 0)
            expected.append(scalar)
        }
        let found = Self.read(#"["\#(text)"]"#)
        #expect(found?.unicodeScalars.elementsEqual(expected) == true)
    }

    @Test func `a pair of surrogates is one code point, at every edge`() {
        let highs = [0xD800, 0xD801, 0xD83C, 0xDBFE, 0xDBFF]
        let lows = [0xDC00, 0xDC01, 0xDF63, 0xDFFE, 0xDFFF]
        for high in highs {
            for low in lows {
                let point = 0x10000 + (high - 0xD800) << 10 + low - 0xDC00
                let found = Self.read(#"["\#(Self.escape(high) + Self.escape(low, true))"]"#)
                #expect(found.map(Array.init(_:))?.count == 1)
                #expect(found?.unicodeScalars.first?.value == UInt32(point))
                // The other way round, twice the same, or with something between them.
                for pair in [(low, ""), (low, "x"), (high, "")].map({ first, between in
                    Self.escape(first) + between + Self.escape(high)
                }) + [Self.escape(high) + " " + Self.escape(low)] {
                    #expect(Self.read(#"["\#(pair)"]"#) == nil, "\(pair)")
                }
            }
        }
    }

    @Test func `what a writer escapes is read back, every code point below 300 and some above`()
        throws
    {
        for value in Array(0..<300) + [0x2028, 0xD7FF, 0xE000, 0xFFFD, 0xFFFF, 0x10000, 0x10FFFF] {
            let text = "a" + String(Unicode.Scalar(UInt32(value))!) + "b"
            let written = JSONValue.array([.string(text)]).text
            #expect(written.utf8.allSatisfy { $0 >= 0x20 }, "\(value)")
            #expect(Self.read(written)?.unicodeScalars.elementsEqual(text.unicodeScalars) == true)
        }
    }
}
