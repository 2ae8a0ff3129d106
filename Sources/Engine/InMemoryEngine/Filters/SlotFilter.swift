import PersistentStructures
import QueryLanguage

/// Tests that all have to be true, in the cheapest order.
struct SlotFilter: Sendable {
    private let tests: [SlotPredicate]
    /// The estimated share of all objects that pass.
    let share: Double
    /// The estimated cost of a candidate in nanoseconds.
    let cost: Double

    /// - Parameter tests: the tests, each with the share of objects that pass it.
    init(_ tests: [(test: SlotPredicate, share: Double)]) {
        // Orders the tests by their cost per slot that they remove, cheapest first.
        let ordered =
            tests.count < 2
            ? tests
            : tests.sorted {
                $0.test.cost / (1.001 - $0.share) < $1.test.cost / (1.001 - $1.share)
            }
        self.tests = ordered.map(\.test)
        share = ordered.reduce(1) { $0 * $1.share }
        var (cost, left) = (0.0, 1.0)
        for (test, share) in ordered {
            cost += left * test.cost
            left *= share
        }
        self.cost = cost
    }

    var isEmpty: Bool { tests.isEmpty }

    /// Moves the slots that pass to the front, in their order, and returns their number, which is
    /// not valid if the budget is spent.
    func select(_ slots: Slots, _ budget: inout WorkBudget) -> Int {
        var count = slots.count
        for test in tests where count > 0 {
            count = test.select(Slots(rebasing: slots[..<count]), &budget)
        }
        return count
    }
}

extension SlotPredicate {
    /// The number of slots that pass, if a column counts them or an index estimates it.
    var knownCount: Int? {
        switch self {
        case .geo(let clause, let index): index.estimate(in: clause.shape)
        case .cell(let cell): cell.test.knownCount(in: cell.column)
        case .constant, .unexpired, .and, .or, .not: nil
        }
    }
}
