import QueryLanguage

/// How much a search may do before it has to end, or to go on on a thread of its own.
///
/// Work is announced in nanoseconds, estimated from its bytes, points and steps. Whenever some
/// twenty microseconds have been announced, the clock is read. So an estimate that is too low delays
/// the end by as many times twenty microseconds, and by one piece of work, but not without limit.
struct WorkBudget {
    var bounds: ReadBounds
    /// Whether the time was over at one of the last pieces of work. What was computed since is not
    /// valid.
    private(set) var isSpent = false
    /// The nanoseconds until the clock is read.
    private var credit = between

    private static let between = 20_000

    init(_ bounds: ReadBounds) { self.bounds = bounds }

    /// Announces work, and returns whether it may be done.
    mutating func allows(_ nanoseconds: Int) -> Bool {
        credit &-= nanoseconds
        if credit < 0, !isSpent { look() }
        return !isSpent
    }

    @inline(never)
    private mutating func look() {
        credit = Self.between
        if bounds.areOver { isSpent = true }
    }
}

extension WorkBudget {
    /// The nanoseconds that a document of so many bytes takes to parse: some times less for most
    /// documents, some times more for arrays of small numbers.
    static func parsing(_ bytes: Int) -> Int { 500 + 4 * bytes }

    /// The nanoseconds that a document of so many bytes takes to parse, and a clause on it to test.
    ///
    /// - Parameter tests: what the clause has: see `Clause.textTests`.
    static func parsing(_ bytes: Int, tests: Int) -> Int {
        parsing(bytes) + tests * testing(bytes)
    }

    /// The nanoseconds that a test of so many bytes of text takes.
    static func testing(_ bytes: Int) -> Int { 20 + bytes / 2 }
}

extension Clause {
    /// How many tests of texts the clause has, those that take several times as long counted as often.
    var textTests: Int {
        switch self {
        case .and(let clauses), .or(let clauses): clauses.reduce(0) { $0 + $1.textTests }
        case .not(let clause): clause.textTests
        case .isIn(_, let literals): literals.count
        case .like(_, let pattern): pattern.costFactor
        default: 1
        }
    }
}
