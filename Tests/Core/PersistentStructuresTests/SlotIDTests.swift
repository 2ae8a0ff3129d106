import TestSupport
import Testing

@testable import PersistentStructures

@Suite struct SlotIDTests {
    /// An id of its own length, 2 to 100 bytes.
    private static func id(_ number: Int) -> [UInt8] {
        Array("\(number)-".utf8) + [UInt8](repeating: 65, count: number % 90)
    }

    private static func find(_ number: Int, in ids: SlotIDs) -> Slot? {
        id(number).withUnsafeBufferPointer { ids.newestSlot(of: $0) }
    }

    /// Expects ids to lead to the slots that are alive, and the others to none that is.
    private static func check(
        _ ids: SlotIDs, numbers: Int, _ alive: [Int: Slot], _ dead: Set<Slot>, _ seed: UInt64
    ) {
        for number in 0..<numbers {
            let found = find(number, in: ids).flatMap { dead.contains($0) ? nil : $0 }
            #expect(found == alive[number], "seed \(seed), id \(number)")
        }
    }

    @Test func `any history of ids equals a dictionary's, and copies stay as they were`() {
        for seed in Seeds.first(3) {
            var random = SplitMix64(seed: seed)
            var ids = SlotIDs()
            var alive: [Int: Slot] = [:]
            var dead: Set<Slot> = []
            var copies: [(SlotIDs, [Int: Slot], Set<Slot>)] = []
            var count: Slot = 0
            // Some seeds delete more than they add, so that tables grow over removed cells.
            let deletes = Int(seed % 3) * 45
            for _ in 0..<4_000 {
                if random.below(100) < deletes, let gone = alive.randomElement(using: &random) {
                    ids.noteRemoval()
                    dead.insert(gone.value)
                    alive[gone.key] = nil
                } else {
                    let number = random.below(3_000)
                    guard alive[number] == nil else { continue }
                    let (slot, gone) = (count, dead)
                    Self.id(number).withUnsafeBufferPointer { id in
                        ids.append(id) { !gone.contains($0) }
                    }
                    alive[number] = slot
                    count += 1
                }
                if random.oneIn(400) { copies.append((ids, alive, dead)) }
            }
            copies.append((ids, alive, dead))
            for (copy, alive, dead) in copies {
                Self.check(copy, numbers: 3_000, alive, dead, seed)
                for (number, slot) in alive {
                    #expect(copy[slot].elementsEqual(Self.id(number)), "seed \(seed)")
                }
            }
        }
    }

    private static func append(_ number: Int, to ids: inout SlotIDs, _ dead: Set<Slot> = []) {
        id(number).withUnsafeBufferPointer { id in ids.append(id) { !dead.contains($0) } }
    }

    /// As transactions do: copies that are changed and dropped, and begun again from the one before.
    @Test func `what a dropped copy did misleads nobody`() {
        for seed in UInt64(1)...8 {
            var random = SplitMix64(seed: seed)
            var (ids, alive, dead): (SlotIDs, [Int: Slot], Set<Slot>) = (SlotIDs(), [:], [])
            var copies: [(SlotIDs, [Int: Slot], Set<Slot>)] = []
            for _ in 0..<600 {
                var (next, nextAlive, nextDead) = (ids, alive, dead)
                for _ in 0..<random.below(30) {
                    let number = random.below(400)
                    if let slot = nextAlive.removeValue(forKey: number) {
                        next.noteRemoval()
                        nextDead.insert(slot)
                        if random.oneIn(3) { continue }
                    }
                    let slot = Slot(nextAlive.count + nextDead.count)
                    Self.append(number, to: &next, nextDead)
                    nextAlive[number] = slot
                }
                Self.check(next, numbers: 400, nextAlive, nextDead, seed)
                // Two of three come to nothing, in long runs of some seeds.
                if random.oneIn(3) { (ids, alive, dead) = (next, nextAlive, nextDead) }
                if random.oneIn(60) { copies.append((ids, alive, dead)) }
            }
            for (copy, alive, dead) in copies {
                Self.check(copy, numbers: 400, alive, dead, seed)
            }
        }
    }

    @Test func `dropped copies without end fill no table`() {
        var ids = SlotIDs()
        // The table begins to grow with the ids after the 96th.
        for number in 0..<97 { Self.append(number, to: &ids) }
        for round in 0..<2_000 {
            var next = ids
            for number in 0..<5 { Self.append(1_000 + round * 5 + number, to: &next) }
            #expect(Self.find(1_000 + round * 5, in: next) == Slot(97 + (round + 49) / 50))
            if round % 50 == 0 { Self.append(20_000 + round, to: &ids) }
        }
        for number in 0..<97 { #expect(Self.find(number, in: ids) == Slot(number)) }
        for round in stride(from: 0, to: 2_000, by: 50) {
            #expect(Self.find(20_000 + round, in: ids) == Slot(97 + round / 50))
        }
        #expect(Self.find(1_000, in: ids) == nil)
        #expect(ids.memoryBytes < 137 * 130)
    }

    @Test func `copies are read while others are added to`() async {
        var ids = SlotIDs()
        for number in 0..<100 { Self.append(number, to: &ids) }
        await withTaskGroup(of: Void.self) { readers in
            for step in 0..<60 {
                let (copy, count) = (ids, 100 + step * 50)
                readers.addTask {
                    for number in 0..<3_100 {
                        let expected = number < count ? Slot(number) : nil
                        #expect(Self.find(number, in: copy) == expected, "\(number) of \(count)")
                    }
                }
                for number in count..<count + 50 { Self.append(number, to: &ids) }
            }
        }
    }

    @Test func `an id that comes and goes all the time is found at each time`() {
        var (ids, dead): (SlotIDs, Set<Slot>) = (SlotIDs(), [])
        for number in 0..<1_000 { Self.append(number, to: &ids) }
        var copies: [SlotIDs] = []
        for round in 0..<3_000 {
            let newest = Slot(round == 0 ? 7 : 999 + round)
            #expect(Self.find(7, in: ids) == newest)
            copies.append(ids)
            ids.noteRemoval()
            dead.insert(newest)
            Self.append(7, to: &ids, dead)
        }
        for (round, copy) in copies.enumerated() where round % 97 == 0 {
            #expect(Self.find(7, in: copy) == Slot(round == 0 ? 7 : 999 + round))
            #expect(Self.find(8, in: copy) == 8)
        }
        // By chance alone a run of 1,000 does not come about.
        #expect(ids.longestRun < 1_000)
    }

    @Test func `some ids that come and go among many are found, and make no search long`() {
        for seed in Seeds.first(2) {
            var random = SplitMix64(seed: seed)
            var (ids, alive, dead): (SlotIDs, [Int: Slot], Set<Slot>) = (SlotIDs(), [:], [])
            var copies: [(SlotIDs, [Int: Slot], Set<Slot>)] = []
            var count: Slot = 0
            func add(_ number: Int, _ ids: inout SlotIDs) {
                Self.append(number, to: &ids, dead)
                alive[number] = count
                count += 1
            }
            for number in 0..<2_000 { add(number, &ids) }
            for step in 0..<8_000 {
                // Three come and go; now and then there is a new one, until the table has grown.
                let number = random.below(4) == 0 ? 2_000 + step : random.below(3)
                if let slot = alive.removeValue(forKey: number) {
                    ids.noteRemoval()
                    dead.insert(slot)
                    if random.oneIn(3) { continue }
                }
                // A transaction that comes to nothing.
                if random.oneIn(10) {
                    var dropped = ids
                    Self.append(number, to: &dropped, dead)
                }
                add(number, &ids)
                if random.oneIn(600) { copies.append((ids, alive, dead)) }
            }
            copies.append((ids, alive, dead))
            for (copy, alive, dead) in copies {
                Self.check(copy, numbers: 10_000, alive, dead, seed)
            }
            #expect(ids.longestRun < 1_000, "seed \(seed)")
        }
    }

    @Test func `two copies that both go on do not disturb each other`() {
        for count in [3, 40, 300] {
            var first = IDList()
            for number in 0..<count { Self.id(number).withUnsafeBufferPointer { first.append($0) } }
            var second = first
            for number in 0..<300 {
                Self.id(number).withUnsafeBufferPointer { first.append($0) }
                Self.id(7_000 - number).withUnsafeBufferPointer { second.append($0) }
            }
            for number in 0..<300 {
                let slot = Slot(count + number)
                #expect(first[slot].elementsEqual(Self.id(number)))
                #expect(second[slot].elementsEqual(Self.id(7_000 - number)))
            }
        }
    }

    @Test func `a table made in one go finds what one grown by and by finds`() {
        for count in [1, 64, 65, 66, 500, 3_000] {
            var bulk = SlotIDs()
            var grown = SlotIDs()
            for number in 0..<count {
                Self.id(number).withUnsafeBufferPointer { id in
                    bulk.appendUnindexed(id)
                    grown.append(id) { _ in true }
                }
            }
            bulk.indexAll()
            for number in 0..<count + 50 {
                let expected = number < count ? Slot(number) : nil
                #expect(Self.find(number, in: bulk) == expected, "\(number) of \(count)")
                #expect(Self.find(number, in: grown) == expected, "\(number) of \(count)")
            }
            // Two bytes for the offset, and up to 20 in the table.
            let own = (0..<count).reduce(0) { $0 + Self.id($1).count }
            if count == 3_000 {
                #expect(bulk.memoryBytes - own < 12 * count)
                #expect(grown.memoryBytes - own < 23 * count)
            }
        }
    }

    @Test func `ids as long as one another need no offsets, block by block`() {
        func id(_ number: Int) -> [UInt8] {
            // One block of five is not of one length.
            let text = String(number + 100_000)
            return Array((number == 3 * 256 + 17 ? text + "-longer" : text).utf8)
        }
        var (list, copies): (IDList, [IDList]) = (IDList(), [])
        for number in 0..<5 * 256 + 100 {
            id(number).withUnsafeBufferPointer { list.append($0) }
            if number % 200 == 199 { copies.append(list) }
        }
        list.trim()
        for list in copies + [list] {
            let slots = (0..<Slot(list.count)).shuffled()
            slots.withUnsafeBufferPointer { list.prefetch($0) }
            for (slot, found) in zip(slots, list.ids(of: slots)) {
                #expect(found.elementsEqual(id(Int(slot))))
                #expect(list[slot].elementsEqual(id(Int(slot))))
            }
        }
        let own = (0..<list.count).reduce(0) { $0 + id($1).count }
        // The offsets of 256 and of 100 ids, and what seven blocks and their table take besides.
        #expect(list.memoryBytes - own < 2 * 358 + 7 * 80 + 200)
    }
}
