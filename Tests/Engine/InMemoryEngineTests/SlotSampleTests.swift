import Objects
import PersistentStructures
import QueryLanguage
import Runtime
import Synchronization
import TestSupport
import Testing

@testable import InMemoryEngine

/// Planning looks at a sample of a bucket only for a moment, whatever its values are.
@Suite struct SlotSampleTests {
    private static let objects = 1_000

    /// A clock that is so much later each time it is read.
    private final class Clock: Sendable {
        let reads = Atomic(0)
        let step: Int64

        init(step: Duration) { self.step = step.nanoseconds }

        var clock: ServiceClock {
            ServiceClock(nanoseconds: { [self] in
                Int64(reads.wrappingAdd(1, ordering: .relaxed).newValue) * step
            })
        }
    }

    /// Whether every fourth text has an "x", of texts of this length.
    private static func test(bytes: Int) throws -> SlotPredicate {
        var column = Column(slots: objects)
        for slot in 0..<objects {
            let text = "\(slot)" + String(repeating: slot % 4 == 0 ? "x" : "a", count: bytes)
            column.set(Slot(slot), to: ColumnValue(Literal.string(Array(text.utf8))))
        }
        let clause = Clause.contains(FieldPath("t"), .string(Array("xx".utf8)))
        return .cell(CellTest(try #require(CellPredicate(clause, on: column)), column))
    }

    @Test(arguments: [2, 60_000])
    func `the share is that of a sample spread over the bucket`(_ bytes: Int) throws {
        let test = try Self.test(bytes: bytes)
        var sample = SlotSample(of: Self.objects, Clock(step: .zero).clock)
        let share = sample.share(of: test) ?? 0
        #expect(abs(share - 0.25) < 0.1)
    }

    @Test func `texts of many bytes end it when its time is over`() throws {
        let test = try Self.test(bytes: 60_000)
        let clock = Clock(step: .milliseconds(1))
        var sample = SlotSample(of: Self.objects, clock.clock)
        for _ in 0..<900 {
            let share = sample.share(of: test)
            #expect(share == nil)
        }
        // Once for the deadline, and once when it was over.
        #expect(clock.reads.load(ordering: .relaxed) == 2)
    }

    @Test func `a part of the sample is used that was tested in time`() throws {
        let test = try Self.test(bytes: 60_000)
        let clock = Clock(step: .microseconds(3))
        var sample = SlotSample(of: Self.objects, clock.clock)
        let share = sample.share(of: test) ?? 0
        #expect(share > 0.1 && share < 0.4)
        #expect(clock.reads.load(ordering: .relaxed) < 100)
    }

    @Test func `short tests do not read the clock`() throws {
        let test = try Self.test(bytes: 2)
        let clock = Clock(step: .milliseconds(1))
        var sample = SlotSample(of: Self.objects, clock.clock)
        let share = sample.share(of: test)
        #expect(share != nil)
        #expect(clock.reads.load(ordering: .relaxed) <= 1)
    }
}
