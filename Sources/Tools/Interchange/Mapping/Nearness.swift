import Objects

extension InterchangeError {
    /// A name that no record has, with the nearest that there are.
    static func noField(_ name: String, among names: [String], flag: String) -> InterchangeError {
        let near = Nearness.nearest(to: name, among: names)
        let hint =
            names.isEmpty
            ? ""
            : "; " + (near.isEmpty ? "there are " : "the nearest are ")
                + (near.isEmpty ? Array(names.prefix(12)) : near).map { quoted($0) }
                .joined(separator: ", ")
        return InterchangeError("\(flag): no record has \(quoted(name))\(hint)", isUsage: true)
    }
}

/// Names that were perhaps meant.
enum Nearness {
    /// At most three names, the nearest first, that differ in at most half of their letters.
    static func nearest(to name: String, among names: [String]) -> [String] {
        let wanted = Array(name.lowercased().utf8.prefix(60))
        let found = names.map { other -> (name: String, distance: Int) in
            let last = other.split(separator: ".").last.map(String.init) ?? other
            return (other, min(distance(wanted, other), distance(wanted, last)))
        }
        return found.filter { $0.distance * 2 <= max(wanted.count, 2) }
            .sorted { $0.distance < $1.distance }.prefix(3).map(\.name)
    }

    /// Letters to insert, to remove or to exchange; 1 at most where one begins with the other.
    private static func distance(_ a: [UInt8], _ other: String) -> Int {
        let b = Array(other.lowercased().utf8.prefix(60))
        if a.starts(with: b) || b.starts(with: a) { return a.count == b.count ? 0 : 1 }
        var row = Array(0...b.count)
        for (i, letter) in a.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for j in b.indices {
                let cost = min(row[j + 1] + 1, row[j] + 1, diagonal + (letter == b[j] ? 0 : 1))
                (diagonal, row[j + 1]) = (row[j + 1], cost)
            }
        }
        return row[b.count]
    }
}
