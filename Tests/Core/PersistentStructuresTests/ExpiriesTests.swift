import PersistentStructures
import TestSupport
import Testing

/// The tree of times against a plain table.
@Suite struct ExpiriesTests {
    private struct Run {
        var tree = Expiries()
        var table: [Slot: Int64] = [:]

        mutating func set(_ slot: Slot, _ time: Int64) {
            tree.set(slot, time)
            table[slot] = time == Expiries.never ? nil : time
        }

        func agrees(_ times: [Int64]) -> Bool {
            tree.next == table.values.min() ?? Expiries.never
                && times.allSatisfy { time in
                    var found: [Slot] = []
                    tree.forEach(until: time) { found.append($0) }
                    return found == table.filter { $0.value <= time }.keys.sorted()
                }
        }
    }

    @Test(arguments: 1...20)
    func `It finds what has expired, as a table does`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let slots = random.pick([3, 64, 65, 4_096, 4_097, 300_000])
        var run = Run()
        for step in 0..<400 {
            let slot = Slot(random.below(slots))
            run.set(slot, random.below(3) == 0 ? Expiries.never : Int64(random.below(1_000)))
            #expect(run.tree[slot] == run.table[slot] ?? Expiries.never)
            if step % 20 == 0 {
                #expect(run.agrees([-1, 0, 10, 500, 1_000]), "seed \(seed), step \(step)")
                #expect(run.tree.violations() == [], "seed \(seed), step \(step)")
            }
        }
    }

    @Test func `It takes nothing where nothing expires`() {
        var tree = Expiries()
        tree.set(7, Expiries.never)
        #expect(tree.memoryBytes == 0)
        #expect(tree.next == Expiries.never)
        #expect(tree[7] == Expiries.never)
    }

    @Test func `A copy keeps what it had`() {
        var run = Run()
        run.set(100, 5)
        let copy = run.tree
        run.set(100, 9)
        run.set(5_000, 1)
        #expect(copy.next == 5 && copy[5_000] == Expiries.never)
        #expect(run.tree.next == 1)
    }
}
