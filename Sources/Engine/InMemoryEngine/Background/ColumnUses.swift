import Objects

/// The order in which columns were last used, for the list of those that the next start builds.
struct ColumnUses {
    /// A larger number is a later use.
    private var uses: [ColumnName: Int] = [:]
    private var last = 0
    /// The list as it was last taken; nil before the first time.
    private var taken: [ColumnName]?

    /// Notes that some columns have been used since the last call. Among themselves they keep their
    /// order.
    mutating func note(_ used: [ColumnName]) {
        for name in used.sorted(by: { uses[$0, default: 0] < uses[$1, default: 0] }) {
            last += 1
            uses[name] = last
        }
    }

    /// The columns, the one used last first; nil if the list is the one of the last call. The uses of
    /// all other columns are forgotten.
    mutating func takeChanged(_ columns: [ColumnName]) -> [ColumnName]? {
        uses = Dictionary(uniqueKeysWithValues: columns.map { ($0, uses[$0, default: 0]) })
        let sorted = columns.sorted { uses[$0]! > uses[$1]! }
        guard sorted != taken else { return nil }
        taken = sorted
        return sorted
    }
}
