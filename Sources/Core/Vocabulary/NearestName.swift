/// The known name that a mistyped one resembles most; nil if none is close.
///
///     nearestName(to: "aiports", among: ["airports", "ports"])        // "airports"
///
/// Names are close if at most a third of the longer one has to be changed, left out, added or
/// swapped with its neighbour. Case does not count. Of equally close names the first in order wins.
///
/// - Complexity: the product of both lengths for each known name; names longer than 64 characters
///   resemble nothing.
public func nearestName(to name: String, among known: some Sequence<String>) -> String? {
    let wanted = Array(name.lowercased().unicodeScalars)
    guard !wanted.isEmpty, wanted.count <= mostCharacters else { return nil }
    var best: (changes: Int, name: String)?
    for candidate in known where candidate != name {
        let letters = Array(candidate.lowercased().unicodeScalars)
        let longer = max(letters.count, wanted.count)
        guard longer <= mostCharacters else { continue }
        let changes = changes(from: wanted, to: letters)
        guard changes <= max(longer / 3, 1), changes < longer else { continue }
        if let best, best <= (changes, candidate) { continue }
        best = (changes, candidate)
    }
    return best?.name
}

private let mostCharacters = 64

/// How many letters have to be changed, left out, added, or swapped with their neighbours, each at
/// most once.
///
/// - Reference: the optimal string alignment distance; Damerau, "A technique for computer detection
///   and correction of spelling errors", CACM 7(3), 1964.
private func changes(from first: [Unicode.Scalar], to second: [Unicode.Scalar]) -> Int {
    var (beforeLast, last) = ([Int](), Array(0...second.count))
    for (row, letter) in first.enumerated() {
        var next = [row + 1]
        for (column, other) in second.enumerated() {
            var fewest = min(
                last[column + 1] + 1, next[column] + 1, last[column] + (letter == other ? 0 : 1))
            if row > 0, column > 0, letter == second[column - 1], first[row - 1] == other {
                fewest = min(fewest, beforeLast[column - 1] + 1)
            }
            next.append(fewest)
        }
        (beforeLast, last) = (last, next)
    }
    return last[second.count]
}
