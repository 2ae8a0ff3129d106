import Interchange
import Testing

/// Tables of any text on terminals of any width: nothing sticks out, and columns stand in a line.
@Suite struct TableFitTests {
    /// Characters with the columns that a terminal gives them.
    private static let characters: [(text: String, columns: Int)] = [
        ("a", 1), ("W", 1), ("é", 1), ("e\u{301}", 1), ("n\u{303}\u{323}", 1), ("漢", 2), ("字", 2),
        ("ひ", 2), ("ｱ", 1), ("Ａ", 2), ("한", 2), ("\u{1112}\u{1161}\u{11AB}", 2), ("Ж", 1),
        ("🎉", 2), ("🇯🇵", 2), ("👩\u{200D}👩\u{200D}👧", 2), ("👍🏽", 2), ("☎\u{FE0F}", 2), ("☎", 1),
        ("1\u{FE0F}\u{20E3}", 2), ("𠮷", 2), ("…", 1), ("ש", 1),
    ]

    /// A composed character and its parts are equal, and as wide.
    private static let widths = Dictionary(
        characters.map { (Character($0.text), $0.columns) }, uniquingKeysWith: { $1 })

    private static func width(of line: some StringProtocol) -> Int {
        line.reduce(0) { $0 + (widths[$1] ?? 1) }
    }

    private static func text(_ random: inout SplitMix) -> String {
        let length = Int.random(in: 1...12, using: &random)
        let text = (0..<length).map { _ in characters.randomElement(using: &random)!.text }.joined()
        // Neighbours such as two halves of flags could be one character.
        return text.count == length ? text : "plain"
    }

    /// The terminal columns at which the cells of a line begin. Cells have no spaces inside.
    private static func starts(of line: String) -> [Int] {
        var (starts, at, previous) = ([Int](), 0, Character(" "))
        for character in line {
            if character != " ", previous == " " { starts.append(at) }
            at += widths[character] ?? 1
            previous = character
        }
        return starts
    }

    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func `No line is wider than the terminal, and each column begins at one place`(
        _ seed: UInt64
    ) throws {
        var random = SplitMix(state: seed)
        let names = ["_id", "name", "漢字", "n\u{303}\u{323}x", "a-long-name-of-a-field"]
        let objects = (0..<8).map { _ in
            "{" + names.map { "\"\($0)\":\"\(Self.text(&random))\"" }.joined(separator: ",") + "}"
        }
        var natural = WritingOptions()
        natural.width = nil
        let whole = try written(.table, objects, natural).split(separator: "\n")
        let widest = whole.map { Self.width(of: $0) }.max()!
        for width in [1, 2, 7, 8, 9, 17, 18, 19, 40, widest - 1, widest, widest + 1] {
            var options = WritingOptions()
            options.width = width
            var found = try written(.table, objects, options).split(separator: "\n").map(
                String.init)
            if found.last!.hasPrefix("(no room for") { found.removeLast() }
            #expect(found.count == objects.count + 1)
            for line in found {
                #expect(Self.width(of: line) <= width, "seed \(seed), \(width): \(line)")
                let expected = Self.starts(of: found[0])
                #expect(Self.starts(of: line) == expected, "seed \(seed), \(width): \(line)")
            }
            #expect(
                (found == whole.map(String.init)) == (width >= widest), "seed \(seed), \(width)")
        }
    }
}
