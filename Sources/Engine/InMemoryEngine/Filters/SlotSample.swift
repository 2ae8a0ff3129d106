import PersistentStructures
import Runtime

/// A sample of a bucket's slots, from which a planner estimates how many objects pass a test.
///
/// The samples of one query together take a fraction of a millisecond, whatever their tests cost;
/// then the rest is guessed.
struct SlotSample {
    /// The number of slots of the bucket.
    let slotCount: Int
    private let clock: ServiceClock
    /// Begins when something is sampled.
    private lazy var budget = WorkBudget(
        ReadBounds(deadline: clock.deadline(after: Self.time), stop: nil))

    /// The number of slots in a sample, and of those that are tested at once.
    private static let (size, step) = (128, 16)
    private static let time = Duration.microseconds(200)

    init(of slotCount: Int, _ clock: ServiceClock) {
        self.slotCount = slotCount
        self.clock = clock
    }

    /// The share of the slots that pass a test; nil if there was no time to test any.
    mutating func share(of test: SlotPredicate) -> Double? {
        let count = min(Self.size, slotCount)
        guard count > 0 else { return 1 }
        var (tested, passed) = (0, 0)
        withUnsafeTemporaryAllocation(of: Slot.self, capacity: Self.step) { slots in
            while tested < count, !budget.isSpent {
                let part = min(Self.step, count - tested)
                for position in 0..<part {
                    slots[position] = slot(tested + position, of: count)
                }
                let found = test.select(Slots(rebasing: slots[..<part]), &budget)
                guard !budget.isSpent else { break }
                tested += part
                passed += found
            }
        }
        // If no slot of the sample passes, the share is still greater than 0.
        return tested > 0 ? max(Double(passed), 0.25) / Double(tested) : nil
    }

    /// Slots that are spread over the bucket however few of them are tested.
    private func slot(_ position: Int, of count: Int) -> Slot {
        let spread = count == Self.size ? position * Self.spreading % count : position
        return Slot(spread * slotCount / count)
    }

    /// Odd, so that it leads to every position; near the golden section of the size.
    private static let spreading = 79
}
