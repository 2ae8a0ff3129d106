/// What stands between two `%`s of a pattern, or before the first or behind the last: texts, and
/// `_`s before and behind them.
struct PatternPiece: Sendable {
    /// Some `_`s and the text behind them, as UTF-8; of the last run it may be empty.
    struct Run: Sendable {
        var skipped = 0
        var text: [UInt8] = []
    }

    private let runs: [Run]
    /// Finds several texts with `_`s between them; nil if there is at most one text.
    let search: CharacterSearch?
    /// Whether the texts and what is between them have too many characters for a search.
    let isTooLong: Bool

    init(_ runs: [Run]) {
        self.runs = runs
        let texts = runs.filter { !$0.text.isEmpty }
        isTooLong =
            texts.count > 1
            && texts.reduce(-texts[0].skipped) { $0 + $1.skipped + $1.text.characterCount }
                > LikePattern.searchedCharacters
        search = texts.count > 1 && !isTooLong ? CharacterSearch(texts) : nil
    }

    /// The text that the piece is; nil if it has a `_`.
    var text: [UInt8]? {
        guard let run = runs.first else { return [] }
        return runs.count == 1 && run.skipped == 0 ? run.text : nil
    }

    /// Where the piece ends if it begins at a position; nil if it does not stand there.
    func end(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
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
    /// is none. O(bytes behind the position).
    func leftmostEnd(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        var end = start
        if let first = runs.first {
            guard let begin = text.position(first.skipped, charactersBehind: start) else {
                return nil
            }
            let rest = UnsafeBufferPointer(rebasing: text[begin...])
            let found = if let search { search.end(in: rest) } else { rest.end(of: first.text) }
            guard let found else { return nil }
            end = begin + found
        }
        guard let last = runs.last, last.text.isEmpty, runs.count > 1 else { return end }
        return text.position(last.skipped, charactersBehind: end)
    }
}

/// Finds characters in a row, some of which may be any, by the Shift-And algorithm: each bit of a
/// word says whether so many of them end at the present character.
///
/// - Reference: Baeza-Yates and Gonnet, "A New Approach to Text Searching", CACM 35(10), 1992.
struct CharacterSearch: Sendable {
    /// The bits of the places where a character may stand: of each in ASCII, and of others.
    private var ascii: [UInt64]
    private var others: [UInt32: UInt64] = [:]
    /// The bits of the places of any character.
    private var any: UInt64 = 0
    private var last: UInt64 = 0

    /// - Parameter runs: with at most 64 characters, without the `_`s before the first text.
    init(_ runs: [PatternPiece.Run]) {
        ascii = Array(repeating: 0, count: 128)
        var bit: UInt64 = 1
        for (number, run) in runs.enumerated() {
            for _ in 0..<(number == 0 ? 0 : run.skipped) {
                any |= bit
                bit <<= 1
            }
            run.text.withUnsafeBufferPointer { text in
                var position = 0
                while position < text.count {
                    let character = text.character(at: &position)
                    if character < 128 {
                        ascii[Int(character)] |= bit
                    } else {
                        others[character, default: 0] |= bit
                    }
                    last = bit
                    bit <<= 1
                }
            }
        }
    }

    /// Where the first row of such characters ends.
    func end(in text: UnsafeBufferPointer<UInt8>) -> Int? {
        ascii.withUnsafeBufferPointer { ascii in
            var (position, ends) = (0, UInt64(0))
            while position < text.count {
                let character = text.character(at: &position)
                let places = character < 128 ? ascii[Int(character)] : others[character] ?? 0
                ends = (ends << 1 | 1) & (places | any)
                if ends & last != 0 { return position }
            }
            return nil
        }
    }
}

extension [UInt8] {
    fileprivate var characterCount: Int { count { $0 & 0xC0 != 0x80 } }
}
