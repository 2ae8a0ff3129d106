extension Planner {
    /// The most plans that are built for a query, each in a time that grows with its clauses.
    static let mostBuilt = 32

    /// Microseconds on a machine of 2026.
    enum Cost {
        /// A candidate from a shape, without the cost of the shape itself, or from a column's
        /// order.
        static let candidate = 0.006
        static let scanned = 0.002
        static let walked = 0.03
        /// Testing the code of a slot in a narrow column, slot by slot.
        static let tested = 0.0006
        /// Adding one value of a match to a tally.
        static let tallied = 0.002
        /// Placing a match in the result order: a distance and one or two comparisons.
        static let ranked = 0.08
        /// Fetching and parsing a document; `test` is the cost of testing a clause on it.
        static let document = 1.5
        static let test = 0.1
        /// The fixed cost of any query.
        static let base = 3.0
    }
}
