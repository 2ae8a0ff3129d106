import Foundation

/// Texts that are JSON, texts that are not, and texts that RFC 8259 lets a parser take or refuse.
///
/// The tests always have those that are made here, from each production of the grammar. Where the
/// public JSONTestSuite is in ../shared/corpora, its texts are added.
public enum JSONCorpus {
    /// What a strict parser does with a text. The raw value is how the public names begin.
    public enum Verdict: String, CaseIterable, Sendable {
        case accepted = "y_"
        case refused = "n_"
        case either = "i_"
    }

    /// A text, and how a failure names it.
    public struct Text: Sendable {
        public let name: String
        public let bytes: [UInt8]

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
            name = "\(bytes.count) bytes: \(String(decoding: bytes.prefix(60), as: UTF8.self))"
        }

        init(_ file: URL) throws {
            bytes = [UInt8](try Data(contentsOf: file))
            name = file.lastPathComponent
        }
    }

    /// The texts of one verdict.
    public static func texts(_ verdict: Verdict) throws -> [Text] {
        let made: [[UInt8]] =
            switch verdict {
            case .accepted: accepted
            case .refused: refused
            case .either: either
            }
        return made.map(Text.init) + (try publicTexts(verdict))
    }

    private static func publicTexts(_ verdict: Verdict) throws -> [Text] {
        let folder = Checkout.root.deletingLastPathComponent()
            .appending(path: "shared/corpora/JSONTestSuite/test_parsing")
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil
        ).filter { $0.lastPathComponent.hasPrefix(verdict.rawValue) }
            .sorted { $0.path < $1.path }.map { try Text($0) }
    }

    // MARK: What is JSON

    private static var accepted: [[UInt8]] {
        let alone = scalars + composites
        let inside = alone.flatMap { ["[\($0)]", #"{"a":\#($0)}"#, "[0,\($0),[]]"] }
        let spaced = composites.map { " \t\r\n" + $0.replacing(",", with: "\n,\t") + "\r " }
        return (alone + inside + spaced + [nested(50)]).map { Array($0.utf8) }
    }

    private static let scalars =
        numbers + ["true", "false", "null"] + strings.map { #""\#($0)""# }

    private static let numbers = [
        "0", "-0", "7", "-1", "10", "1234567890", "0.0", "-0.25", "1.50", "0e0", "0E+0", "0e-0",
        "1e2", "1E2", "1e+2", "1E-2", "3.5e07", "-9.75E+10", "20e00", "9007199254740993",
        "-9223372036854775808", "18446744073709551615", "18446744073709551616",
        "0." + String(repeating: "0", count: 100) + "1", String(repeating: "9", count: 300),
    ]

    /// What may stand between quotes.
    private static let strings =
        [
            "", "a", " ", "/", "'", "[1,{", "// no comment", #"\\u0041"#, "\u{7F}", "\u{80}", "é",
            "€", "\u{2028}", "\u{FFFF}", "😀", "\u{10FFFF}", #"\u0000"#, #"\u001F"#, #"\uFFFF"#,
            #"\uD83D\uDE00"#, #"\ud7ff\ue000"#, #"\uDBFF\uDFFF"#,
            String(repeating: "x", count: 5_000),
        ] + [#"""#, #"\"#, "/", "b", "f", "n", "r", "t"].map { #"\"# + $0 }

    private static let composites = [
        "[]", "{}", "[[]]", "[{}]", #"{"":0}"#, #"{"a":{}}"#, #"{"a":1,"a":2}"#, "[1,2]",
        #"{"\u0061":[]}"#, #"[1,"a",null,true,{"b":[false]}]"#,
        #"{"a":{"b":[{"c":-0.5e-3}]},"d":""}"#,
    ]

    private static func nested(_ levels: Int) -> String {
        String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    }

    // MARK: What is not

    private static var refused: [[UInt8]] {
        let scalars = wrongNumbers + wrongLiterals + wrongStrings
        let inside = scalars.flatMap { ["[\($0)]", "[0,\($0)]", #"{"a":\#($0)}"#, "{\($0):0}"] }
        let prolonged = composites.flatMap { text in "]},:\"0".map { text + String($0) } }
        let cut = composites.map { Array($0.utf8) }
            .flatMap { text in (1..<text.count).map { Array(text[..<$0]) } }
        return (scalars + inside + prolonged + wrongStructures).map { Array($0.utf8) } + cut
            + [Array(nested(50).utf8.dropLast())]
    }

    private static let wrongNumbers = [
        "00", "01", "-01", "-", "--1", "+1", "+0", ".", ".5", "-.5", "1.", "-1.", "1.e2", "0.e1",
        "1e", "1e+", "1e-", "1E", "1.5e", "1e1.5", "1e1e1", "1.2.3", "0x10", "0b1", "1_000",
        "1,000", "1 000", "Infinity", "-Infinity", "NaN", "-NaN", "inf", "1f", "1L", "1n", "0-1",
        "1+1", "1-", "e5", "-e1", "1/2", "1%", "\u{2212}1", "\u{0661}", "\u{FF11}", "1\u{0}",
    ]

    private static let wrongLiterals = [
        "True", "TRUE", "tru", "truee", "true1", "fals", "False", "nul", "nulll", "NULL", "none",
        "undefined", "yes", "t", "f", "n", "a", "$", "@", "*", "=", "\\", "\u{0}",
    ]

    private static let wrongStrings =
        [
            #"""#, #""a"#, #"a""#, #"""""#, #""a"b""#, #""a" "b""#, #""a\"#, #""\"#, #""\""#, "'a'",
            "`a`", "\u{201C}a\u{201D}",
        ]
        + [
            "a", "x41", "'", "0", "U0041", "u", "u1", "u12", "u123", "u123g", "u 123", "u-123",
            "u+123",
            "uD83", "u{41}", "é", " ", "e", "v",
        ].map { #""\"# + $0 + #"""# }
        + (0..<0x20).map { #""\#(Unicode.Scalar(UInt8($0)))""# }

    private static let wrongStructures =
        [
            " ", "\t", "[", "]", "{", "}", ",", ":", "[}", "{]", "[,]", "[1,]", "[,1]", "[1,,2]",
            "[1 2]",
            "[1;2]", "[1:2]", "[1]]", "[1],", ",[1]", "[1]x", "[][]", "{}{}", "1 2", "(1)", "<1>",
            "[...1]",
            "[1]//c", "/**/1", "[1/*c*/]", "#c", "{,}", #"{"a"}"#, #"{"a":}"#, #"{"a",1}"#,
            #"{"a" 1}"#,
            #"{"a"::1}"#, #"{"a"=1}"#, #"{"a":1,}"#, #"{,"a":1}"#, #"{"a":1,,"b":2}"#,
            #"{"a":1 "b":2}"#,
            #"{"a":1;"b":2}"#, #"{"a":1}}"#, "{a:1}", "{1:1}", "{null:1}", "{[]:1}", "{{}:1}",
            "{:1}",
            #"["a":1]"#, #"{["a"]}"#, "\u{FEFF}",
        ]
        // White space of others.
        + ["\u{0}", "\u{B}", "\u{C}", "\u{85}", "\u{A0}", "\u{2003}", "\u{2028}", "\u{3000}"]
        .flatMap { ["[\($0)1]", "[1\($0)]", "[1]\($0)"] }

    // MARK: What a parser may take or refuse

    private static var either: [[UInt8]] {
        let surrogates = [
            #"\ud800"#, #"\udc00"#, #"\udc00\ud800"#, #"\ud800a"#, #"\ud800\u0041"#,
            #"\ud800\ud800"#,
            #"\ud800\n"#, #"\ud83d\ude0"#,
        ].map { #"["\#($0)"]"# }
        let sizes = [
            "1e400", "-1e400", "1e-400", "1" + String(repeating: "0", count: 400),
            "1e99999999999999999999", nested(2_000), String(repeating: "[", count: 100_000),
            "\u{FEFF}[]",
        ]
        let notUTF8: [[UInt8]] = [
            [0x80], [0xFF], [0xC3], [0xC3, 0x28], [0xC0, 0xAF], [0xE2, 0x82], [0xE0, 0x80, 0x80],
            [0xED, 0xA0, 0x80], [0xF0, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80],
            [0xF8, 0x88, 0x80, 0x80, 0x80],
        ]
        let strings: [[UInt8]] = notUTF8.map { [0x5B, 0x22] + $0 + [0x22, 0x5D] }
        let utf16: [UInt8] = "[1]".utf8.flatMap { [$0, 0] }
        return (surrogates + sizes).map { Array($0.utf8) } + strings + [utf16]
    }
}
