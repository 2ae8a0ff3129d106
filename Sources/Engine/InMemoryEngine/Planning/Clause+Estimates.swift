import QueryLanguage

/// What the planner assumes of a clause without looking at the bucket.
extension Clause {
    /// The number of clauses in the tree.
    var nodes: Int {
        switch self {
        case .and(let clauses), .or(let clauses): clauses.reduce(1) { $0 + $1.nodes }
        case .not(let clause): 1 + clause.nodes
        case .isIn(_, let values): 1 + values.count / 8
        default: 1
        }
    }

    /// The guessed share of objects that satisfy the clause, used when nothing in memory provides
    /// one.
    var guessedShare: Double {
        switch self {
        case .all, .geo: 1
        case .eq, .prefix, .like, .contains: 0.1
        case .isIn, .range: 0.25
        case .hasField: 0.9
        case .and(let clauses): clauses.reduce(1) { $0 * $1.guessedShare }
        case .or(let clauses): min(1, clauses.reduce(0) { $0 + $1.guessedShare })
        case .not(let clause): max(0.05, 1 - clause.guessedShare)
        }
    }
}
