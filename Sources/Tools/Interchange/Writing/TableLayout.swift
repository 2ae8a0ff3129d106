/// The widths of a table's columns, so that its lines fit a terminal.
///
/// The widest columns shrink first; columns that still do not fit are dropped from the right.
struct TableLayout {
    /// The widths of the columns that are shown, in order.
    let widths: [Int]

    static let gap = 2
    /// The minimum width of a column that has shrunk.
    static let narrowest = 8

    /// - Parameters:
    ///   - natural: the full width of each column.
    ///   - width: the terminal's width in columns; nil shows all columns in full.
    init(natural: [Int], width: Int?) {
        guard let width else {
            widths = natural
            return
        }
        let least = natural.map { min($0, Self.narrowest) }
        var count = natural.count
        while count > 1, Self.total(least.prefix(count)) > width { count -= 1 }
        let room = width - Self.gap * max(count - 1, 0)
        widths = Self.shrunk(Array(natural.prefix(count)), to: max(room, 1))
    }

    private static func total(_ widths: some Collection<Int>) -> Int {
        widths.reduce(0, +) + gap * max(widths.count - 1, 0)
    }

    /// Widths under a common cap: the largest cap for which their sum is at most `room`.
    private static func shrunk(_ widths: [Int], to room: Int) -> [Int] {
        guard widths.reduce(0, +) > room else { return widths }
        var cap = 1
        while widths.reduce(0, { $0 + min($1, cap + 1) }) <= room { cap += 1 }
        var result = widths.map { min($0, cap) }
        // The remainder goes to the first columns that can use it.
        var rest = room - result.reduce(0, +)
        for index in result.indices where rest > 0 && result[index] < widths[index] {
            result[index] += 1
            rest -= 1
        }
        return result
    }
}
