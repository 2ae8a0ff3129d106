import Glibc
import PersistentStructures
import TestSupport
import Testing

@testable import InMemoryEngine

/// The distinct values of narrow columns, and what is shared between their copies.
@Suite struct PaletteTests {
    /// The processor time of this thread, in nanoseconds.
    private static var threadTime: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    @Test func `a new value costs the same in a column with many, if each state is kept`() {
        var column = Column(slots: 400_000)
        func time(of values: Range<Int>) -> Int64 {
            let start = Self.threadTime
            for value in values {
                let former = column
                column.set(Slot(value), to: Cell(Double(value)))
                withExtendedLifetime(former) {}
            }
            return Self.threadTime - start
        }
        _ = time(of: 0..<1_100)
        let few = time(of: 1_100..<2_000)
        _ = time(of: 2_000..<40_000)
        let many = time(of: 40_000..<40_900)
        // It was forty times as much.
        #expect(many < 8 * few, "\(few) ns, then \(many) ns")
        #expect(column.uses(of: Cell(40_500)) == 1)
    }

    @Test(arguments: Seeds.first(4))
    func `what failed transactions have left is not found, and neither is what is newer`(
        seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        var palette = Palette()
        var codes: [Cell: UInt16] = [:]
        var former: [(palette: Palette, count: Int)] = []
        for round in 0..<2_000 {
            var (next, added) = (palette, codes)
            for _ in 0..<random.below(12) {
                let cell = Cell(Double(random.below(6_000)))
                if next.code(of: cell) == nil { added[cell] = next.append(cell) }
                #expect(next.code(of: cell) == added[cell], "seed \(seed), round \(round)")
            }
            if random.oneIn(3) { (palette, codes) = (next, added) }
            if random.oneIn(100) { former.append((palette, codes.count)) }
            for _ in 0..<5 {
                let cell = Cell(Double(random.below(6_000)))
                #expect(palette.code(of: cell) == codes[cell], "seed \(seed), round \(round)")
            }
        }
        for (palette, count) in former {
            #expect(palette.count == count)
            for (cell, code) in codes {
                #expect(palette.code(of: cell) == (code < count ? code : nil), "seed \(seed)")
            }
        }
    }
}
