import Objects

/// A pattern for texts as SQL's LIKE has it: `%` stands for any characters or none, `_` for exactly
/// one, and a backslash makes the character behind it stand for itself.
///
///     try LikePattern("San _%o").matches("San Diego")                          // true
///     try LikePattern("%straße", ignoringCase: true).matches("HAUPTSTRASSE")   // true
///
/// A character is a code point. Where case is ignored, the pattern and the text are both folded
/// first (`CaseFolding`), so there "ß" is two characters.
///
/// - Complexity: O(bytes of the text), times `searchedCharacters` at most.
public struct LikePattern: Sendable, Hashable {
    /// The pattern as UTF-8.
    public let text: [UInt8]
    /// Whether letters match whatever their case.
    public let ignoresCase: Bool
    /// What stands before, between and behind the `%`s. Between them there is something.
    private let pieces: [PatternPiece]

    /// The most characters between two `%`s if one of them, neither the first nor the last, is `_`:
    /// each character of a text is compared with as many of them at most.
    public static let searchedCharacters = 64
    /// The most texts that `%`s separate.
    public static let mostPieces = 1_000

    /// Reads a pattern.
    ///
    /// - Throws: if it ends in the middle of an escape, has too many texts, or too much between two
    ///   `%`s.
    public init(_ text: [UInt8], ignoringCase: Bool = false) throws(InvalidPattern) {
        (self.text, ignoresCase) = (text, ignoringCase)
        var reader = PieceReader(foldsText: ignoringCase)
        var rest = text[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                reader.endPiece()
                guard reader.pieces.count < Self.mostPieces else {
                    throw InvalidPattern(
                        reason: "more than \(Self.mostPieces) texts that \"%\" separates")
                }
            case UInt8(ascii: "_"): reader.addAnyCharacter()
            case UInt8(ascii: "\\"):
                guard let next = rest.popFirst() else {
                    throw InvalidPattern(reason: "the pattern ends behind a backslash")
                }
                reader.add(next)
            default: reader.add(byte)
            }
        }
        reader.endPiece(isLast: true)
        pieces = reader.pieces
        guard pieces.dropFirst().dropLast().allSatisfy({ !$0.isTooLong }) else {
            throw InvalidPattern(
                reason: "more than \(Self.searchedCharacters) characters with a \"_\" among them "
                    + "between two \"%\"")
        }
    }

    public static func == (a: LikePattern, b: LikePattern) -> Bool {
        a.text == b.text && a.ignoresCase == b.ignoresCase
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(text)
        hasher.combine(ignoresCase)
    }

    /// The clause that a field matches. Where `eq` or `prefix` says the same it is that, since an order
    /// of the field's values answers it.
    public func clause(of field: FieldPath) -> Clause {
        if !ignoresCase, let text = pieces[0].text {
            if pieces.count == 1 { return .eq(field, .string(text)) }
            if pieces.count == 2, pieces[1].text == [] { return .prefix(field, text) }
        }
        return .like(field, self)
    }

    /// How many times as long a test of a text takes as a search for a word in it, about.
    public var costFactor: Int {
        let isSlow = pieces.dropFirst().dropLast().contains(where: \.hasSeveralTexts)
        return 1 + (ignoresCase ? 8 : 0) + (isSlow ? 32 : 0)
    }

    /// Whether a text, as UTF-8, matches.
    public func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard ignoresCase else { return matchesAsSpelled(text) }
        return CaseFolding.folded(text).withUnsafeBufferPointer(matchesAsSpelled)
    }

    /// Whether a text matches.
    public func matches(_ text: String) -> Bool {
        Array(text.utf8).withUnsafeBufferPointer { matches($0) }
    }

    private func matchesAsSpelled(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard var end = pieces[0].end(in: text, from: 0) else { return false }
        guard let last = pieces.dropFirst().last else { return end == text.count }
        // The leftmost places of the pieces in between leave most room for those behind them.
        for piece in pieces.dropFirst().dropLast() {
            guard let next = piece.leftmostEnd(in: text, from: end) else { return false }
            end = next
        }
        return last.start(in: text, upTo: text.count).map { $0 >= end } ?? false
    }
}

/// Why a text is no pattern.
public struct InvalidPattern: Error, Sendable {
    /// A sentence without its full stop.
    public let reason: String
}

/// Reads what stands between the `%`s of a pattern.
private struct PieceReader {
    let foldsText: Bool
    private(set) var pieces: [PatternPiece] = []
    private var runs: [PatternPiece.Run] = []
    private var run = PatternPiece.Run()

    init(foldsText: Bool) { self.foldsText = foldsText }

    mutating func add(_ byte: UInt8) { run.text.append(byte) }

    mutating func addAnyCharacter() {
        if !run.text.isEmpty { endRun() }
        run.skipped += 1
    }

    /// Between two `%`s nothing need be found where nothing stands.
    mutating func endPiece(isLast: Bool = false) {
        endRun()
        guard isLast || pieces.isEmpty || !runs.isEmpty else { return }
        pieces.append(PatternPiece(runs))
        runs = []
    }

    private mutating func endRun() {
        if foldsText { run.text = run.text.withUnsafeBufferPointer(CaseFolding.folded) }
        if run.skipped > 0 || !run.text.isEmpty { runs.append(run) }
        run = PatternPiece.Run()
    }
}
