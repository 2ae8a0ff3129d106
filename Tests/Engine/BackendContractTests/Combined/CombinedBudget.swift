import InMemoryEngine
import Objects
import TestSupport

/// What one seed's run has to do with: budgets so small that whatever happens to large buckets now
/// and then happens to these all the time, and different ones for each seed.
struct CombinedBudget: Sendable {
    var tuning = Engine.Tuning()
    var limits = Limits()
    /// Objects that each bucket has after it has been filled.
    var sizes: [Int] = []

    init(_ random: inout SplitMix64) {
        sizes = (0..<3).map { _ in random.pick([12, 60, 60, 200, 200, 700]) }

        tuning.smallestBucket = 8
        tuning.documentsForColumn = 8
        tuning.documentsForWaiting = random.pick([8, 20_000])
        // Of some runs columns have no orders, so that what scans and columns answer is seen too.
        tuning.candidatesForOrder = random.pick([1, 8, .max])
        tuning.gainForOrder = random.pick([0, 0, 2])
        tuning.documentsAtOnce = random.pick([2, 16, 1_024])
        tuning.refusal = random.pick([.zero, .milliseconds(20)])
        (tuning.holes, tuning.slotsPerHole) = random.pick([(2, 10), (8, 10), (64, 4)])
        tuning.objectsTakenOn = random.pick([2, 16, 128])
        tuning.pointsPerTree = random.pick([8, 8, 16, 256])
        tuning.rest = random.pick([.milliseconds(1), .milliseconds(50)])
        tuning.objectsForFreezing = random.pick([1, 50, 1_000])
        tuning.removedAtOnce = random.pick([3, 1_000])
        tuning.deletedAtOnce = random.pick([1, 4, 128])
        tuning.deletedInPlace = random.pick([1, 8, 2_000])
        tuning.turn = random.pick([.microseconds(200), .milliseconds(5)])
        tuning.housekeeping = random.pick([.milliseconds(5), .milliseconds(100), .seconds(1)])

        limits.memoryBytes = random.pick([15_000, 60_000, 1 << 30])
        limits.columnsPerMinute = 1_000_000
        limits.documentCacheBytes = random.pick([0, 10_000, 1 << 28])
        limits.logBytes = random.pick([65_536, 1 << 28])
        limits.replyBytes = random.pick([4_000, 1_000_000])
        limits.bucketColumns = random.pick([3, 64])
        limits.readThreads = 3
        // A slow machine is no fault.
        limits.queryMilliseconds = 600_000
        limits.queueMilliseconds = 600_000
        limits.exportIdleMilliseconds = 600_000
    }
}
