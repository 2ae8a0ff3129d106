import Geodesy
import Objects
import PersistentStructures
import QueryLanguage
import SpatialIndex

/// A clause over columns and points. It decides a slot without reading its document.
indirect enum SlotPredicate: Sendable {
    case constant(Truth)
    case cell(CellTest)
    case geo(GeoClause, PointIndex)
    /// Whether an object has not expired at a time.
    case unexpired(by: Int64, Expiries)
    case and([SlotPredicate])
    case or([SlotPredicate])
    case not(SlotPredicate)

    /// The maximum number of slots that are decided in one batch.
    static let batch = 512

    /// The test of a clause on a bucket; nil if it needs documents.
    init?(_ clause: Clause, on fields: inout QueriedFields) {
        switch clause {
        case .all: self = .constant(.yes)
        case .geo(let clause):
            self = fields.lookUp(clause.field).map { .geo(clause, $0) } ?? .constant(.unknown)
        case .and(let clauses):
            guard let tests = Self.tests(clauses, on: &fields) else { return nil }
            self = .and(tests)
        case .or(let clauses):
            guard let tests = Self.tests(clauses, on: &fields) else { return nil }
            self = .or(tests)
        case .not(let clause):
            guard let test = SlotPredicate(clause, on: &fields) else { return nil }
            self = .not(test)
        case .eq(let field, _), .range(let field, _), .prefix(let field, _), .like(let field, _),
            .isIn(let field, _), .hasField(let field, _), .contains(let field, _):
            guard let column = fields.column(field), let test = CellPredicate(clause, on: column)
            else { return nil }
            self = .cell(CellTest(test, column))
        }
    }

    /// Returns all tests or nil. It examines every clause, so that it finds every missing column.
    private static func tests(
        _ clauses: [Clause], on fields: inout QueriedFields
    ) -> [SlotPredicate]? {
        let tests = clauses.map { SlotPredicate($0, on: &fields) }
        return tests.contains { $0 == nil } ? nil : tests.map { $0! }
    }

    /// The approximate cost of a slot in nanoseconds, which determines the order of several tests.
    var cost: Double {
        switch self {
        case .constant: 0.1
        case .cell(let cell):
            cell.test.isCheap
                ? 4
                : 30 + Double(WorkBudget.testing(cell.test.testedBytes(cell.column.averageBytes)))
        case .geo(let clause, let index): clause.shape.testNanoseconds * index.pointsPerSlot
        case .unexpired: 4
        case .and(let tests), .or(let tests): tests.reduce(2) { $0 + $1.cost }
        case .not(let test): 1 + test.cost
        }
    }

    // MARK: Deciding

    /// Moves the slots for which the test is true to the front, in their order.
    ///
    /// - Returns: the number of these slots, which is not valid if the budget is spent.
    func select(_ slots: Slots, _ budget: inout WorkBudget) -> Int {
        var kept = 0
        var first = 0
        while first < slots.count {
            let part = Slots(rebasing: slots[first..<min(first + Self.batch, slots.count)])
            kept += keep(part, at: slots.baseAddress! + kept, &budget)
            first += Self.batch
        }
        return kept
    }

    /// Writes the slots of one batch that pass to `target`, which must not lie after the batch.
    private func keep(
        _ slots: Slots, at target: UnsafeMutablePointer<Slot>, _ budget: inout WorkBudget
    ) -> Int {
        guard budget.allows(Self.cheapest * slots.count) else { return 0 }
        if case .cell(let cell) = self, let kept = cell.keep(slots, at: target) { return kept }
        var kept = 0
        withUnsafeTemporaryAllocation(of: Truth.self, capacity: slots.count) { truths in
            decide(slots, truths.baseAddress!, &budget)
            for position in 0..<slots.count {
                target[kept] = slots[position]
                kept += truths[position] == .yes ? 1 : 0
            }
        }
        return kept
    }

    /// The nanoseconds that the cheapest test of a slot takes.
    private static let cheapest = 2

    /// The truth of each slot of a batch.
    private func decide(
        _ slots: Slots, _ truths: UnsafeMutablePointer<Truth>, _ budget: inout WorkBudget
    ) {
        guard budget.allows(Self.cheapest * slots.count) else {
            return truths.initialize(repeating: .no, count: slots.count)
        }
        switch self {
        case .constant(let truth): truths.initialize(repeating: truth, count: slots.count)
        case .cell(let cell):
            cell.test.decide(slots, in: cell.column, truths) {
                budget.allows(WorkBudget.testing($0))
            }
        case .geo(let clause, let index):
            let perPoint = Int(clause.shape.testNanoseconds)
            clause.shape.withTest { contains in
                index.decide(contains, slots, truths) { budget.allows(perPoint * $0) }
            }
        case .unexpired(let time, let expiries):
            for position in 0..<slots.count {
                truths[position] = Truth(expiries[slots[position]] > time)
            }
        case .and(let tests): combine(tests, slots, truths, from: .yes, &budget, &)
        case .or(let tests): combine(tests, slots, truths, from: .no, &budget, |)
        case .not(let test):
            test.decide(slots, truths, &budget)
            for position in 0..<slots.count { truths[position] = !truths[position] }
        }
    }

    private func combine(
        _ tests: [SlotPredicate], _ slots: Slots, _ truths: UnsafeMutablePointer<Truth>,
        from neutral: Truth, _ budget: inout WorkBudget, _ join: (Truth, Truth) -> Truth
    ) {
        truths.initialize(repeating: neutral, count: slots.count)
        withUnsafeTemporaryAllocation(of: Truth.self, capacity: slots.count) { part in
            for test in tests {
                test.decide(slots, part.baseAddress!, &budget)
                for position in 0..<slots.count {
                    truths[position] = join(truths[position], part[position])
                }
            }
        }
    }
}

/// A test of a column's cells with the column.
///
/// One reference, because a column has many and a test is passed on for every few candidates.
final class CellTest: Sendable {
    let test: CellPredicate
    let column: Column

    init(_ test: CellPredicate, _ column: Column) {
        self.test = test
        self.column = column
    }

    /// Writes the slots that pass to `target`, which must not lie after them, if the test is whether
    /// the cell is in an interval.
    ///
    /// It is not inlined: in the middle of its callers' code the loop would keep its variables in
    /// memory instead of in registers.
    ///
    /// - Returns: their number; nil for another test.
    @inline(never)
    fileprivate func keep(_ slots: Slots, at target: UnsafeMutablePointer<Slot>) -> Int? {
        guard let range = test.interval else { return nil }
        let (low, span) = (range.lowerBound, range.upperBound - range.lowerBound)
        var (kept, position) = (0, 0)
        column.forEachCell(of: slots) { cell in
            target[kept] = slots[position]
            kept &+= cell.bits &- low <= span ? 1 : 0
            position &+= 1
        }
        return kept
    }
}

extension PointIndex {
    /// The truth of each slot: whether any of its points passes; unknown if the slot has no point.
    ///
    /// - Parameter mayTest: whether so many points may be tested; if not, they do not pass.
    fileprivate func decide(
        _ contains: (Coordinate) -> Bool, _ slots: Slots,
        _ truths: UnsafeMutablePointer<Truth>, _ mayTest: (Int) -> Bool
    ) {
        var position = 0
        forEachPosition(of: slots) {
            truths[position] = $0.map { Truth(mayTest(1) && contains($0)) } ?? .unknown
            position += 1
        } several: {
            truths[position] = Truth(mayTest($0.count) && $0.contains(where: contains))
            position += 1
        }
    }
}
