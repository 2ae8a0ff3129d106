/// What stands between two `%`s of a pattern, or before the first or behind the last: texts, and
/// `_`s before and behind them.
struct PatternPiece: Sendable {
    /// Some `_`s and the text behind them, as UTF-8; of the last run it may be empty.
    struct Run: Sendable {
        var skipped = 0
        var text: [UInt8] = []
    }

    private let runs: [Run]

    init(_ runs: [Run]) { self.runs = runs }

    /// Whether the piece has texts with `_`s between them.
    var hasSeveralTexts: Bool { runs.count { !$0.text.isEmpty } > 1 }

    /// Whether it has several texts, and these and what is between them too many characters.
    var isTooLong: Bool {
        hasSeveralTexts
            && runs.reduce(-runs[0].skipped) { $0 + $1.skipped + $1.text.characterCount }
                > LikePattern.searchedCharacters
    }

    /// The text that the piece is; nil if it has a `_`.
    var text: [UInt8]? {
        guard let run = runs.first else { return [] }
        return runs.count == 1 && run.skipped == 0 ? run.text : nil
    }

    /// Where the piece ends if it begins at a position; nil if it does not stand there.
    func end(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        Self.end(of: runs[...], in: text, from: start)
    }

    private static func end(
        of runs: ArraySlice<Run>, in text: UnsafeBufferPointer<UInt8>, from start: Int
    ) -> Int? {
        var position = start
        for run in runs {
            guard let begin = text.position(run.skipped, charactersBehind: position),
                text[begin...].starts(with: run.text)
            else { return nil }
            position = begin + run.text.count
        }
        return position
    }

    /// Where the piece begins if it ends at a position; nil if it does not stand there.
    func start(in text: UnsafeBufferPointer<UInt8>, upTo end: Int) -> Int? {
        var position = end
        for run in runs.reversed() {
            let begin = position - run.text.count
            guard begin >= 0, text[begin..<position].elementsEqual(run.text),
                let next = text.position(run.skipped, charactersBefore: begin)
            else { return nil }
            position = next
        }
        return position
    }

    /// The end of the piece at the leftmost place where it stands, from a position on; nil if there
    /// is none. O(bytes behind the position, times the characters of several texts).
    func leftmostEnd(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        guard let first = runs.first else { return start }
        guard var begin = text.position(first.skipped, charactersBehind: start) else { return nil }
        while true {
            let rest = UnsafeBufferPointer(rebasing: text[begin...])
            guard let found = rest.end(of: first.text) else { return nil }
            let next = begin + found
            if let end = Self.end(of: runs.dropFirst(), in: text, from: next) { return end }
            // An empty text stands alone, and then nothing is left that could fail.
            begin = next - first.text.count + 1
        }
    }
}

extension [UInt8] {
    fileprivate var characterCount: Int { count { $0 & 0xC0 != 0x80 } }
}
