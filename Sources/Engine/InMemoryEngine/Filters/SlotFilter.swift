import PersistentStructures
import QueryLanguage

/// Tests that all have to be true, in the order in which they cost least.
struct SlotFilter: Sendable {
    private let tests: [SlotPredicate]
    /// The share of all objects that pass, by estimate.
    let share: Double
    /// Nanoseconds a candidate, by estimate.
    let cost: Double

    /// Slots looked at to guess how many of all pass.
    private static let sample = 128

    /// - Parameter tests: each with the share of objects that pass it.
    init(_ tests: [(test: SlotPredicate, share: Double)]) {
        // A test is worth its cost by what it takes away: least cost a removed slot first.
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

    /// How many slots of the bucket pass, where a column counts them.
    var exactCount: Int? {
        guard tests.count == 1, case .cell = tests[0] else { return nil }
        return tests[0].knownCount
    }

    /// Keeps, in their order, the slots that pass; returns how many they are.
    func select(_ slots: Slots) -> Int {
        var count = slots.count
        for test in tests where count > 0 {
            count = test.select(Slots(rebasing: slots[..<count]))
        }
        return count
    }

    /// The share of a bucket's slots, below `slotCount`, that pass a test, by a sample.
    static func sampledShare(of test: SlotPredicate, _ slotCount: Int) -> Double {
        let count = min(sample, slotCount)
        guard count > 0 else { return 1 }
        return withUnsafeTemporaryAllocation(of: Slot.self, capacity: count) { slots in
            for position in 0..<count { slots[position] = Slot(position * slotCount / count) }
            let passed = test.select(slots)
            // Between none of the sample and one is still something.
            return max(Double(passed), 0.25) / Double(count)
        }
    }
}

extension SlotPredicate {
    /// How many slots pass, where a column counts them or an index estimates them.
    var knownCount: Int? {
        switch self {
        case .geo(let clause, let index): index.estimate(in: clause.shape)
        case .cell(let test, let column): test.knownCount(in: column)
        case .constant, .unexpired, .and, .or, .not: nil
        }
    }
}
