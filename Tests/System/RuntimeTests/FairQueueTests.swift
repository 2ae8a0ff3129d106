import Runtime
import Testing

@Suite struct FairQueueTests {
    @Test func `owners have their turns one after the other`() {
        var queue = FairQueue<Int>()
        for number in 0..<5 { queue.append(number, of: "many") }
        queue.append(10, of: "one")
        queue.append(20, of: "two")
        queue.append(21, of: "two")
        #expect(queue.first == 0)
        #expect(queue.count == 8)
        var taken: [Int] = []
        while let (_, element) = queue.popFirst() { taken.append(element) }
        #expect(taken == [0, 10, 20, 1, 21, 2, 3, 4])
        #expect(queue.isEmpty && queue.first == nil)
    }

    @Test func `a costly element waits for as much as it costs from each other owner`() {
        var queue = FairQueue<Int>()
        queue.append(100, of: "costly", cost: 10)
        for number in 1...30 { queue.append(number, of: "cheap") }
        for number in 31...60 { queue.append(number, of: "too", cost: 2) }
        var (taken, first) = ([Int](), queue.first)
        while let (_, element) = queue.popFirst() {
            #expect(element == first)
            taken.append(element)
            first = queue.first
        }
        let before = taken.prefix { $0 != 100 }
        #expect(before.filter { $0 <= 30 } == Array(1...9))
        #expect(before.filter { $0 > 30 } == Array(31...34))
        #expect(taken.count == 61)
    }

    @Test(arguments: 1...10)
    func `owners that always have an element waiting share the costs`(seed: UInt64) {
        var (random, queue) = (Generator(state: seed), FairQueue<Int>())
        let most = ["long": 1_000, "short": 10]
        func append(to owner: String) {
            let cost = 1 + Int(random.next()) % most[owner]!
            queue.append(cost, of: owner, cost: cost)
        }
        for owner in ["long", "short", "short", "short"] { append(to: owner) }
        var ahead = 0
        for _ in 0..<10_000 {
            guard let (owner, cost) = queue.popFirst() else { break }
            ahead += owner == "long" ? cost : -cost
            #expect(abs(ahead) <= 1_010, "seed \(seed)")
            append(to: owner)
        }
    }

    @Test func `whoever is not ready is passed over and keeps its place`() {
        var queue = FairQueue<Int>()
        queue.append(1, of: "a")
        queue.append(2, of: "b")
        #expect(queue.popFirst { $0 == "c" } == nil)
        #expect(queue.popFirst { $0 != "a" }?.element == 2)
        queue.append(3, of: "b")
        #expect(queue.popFirst()?.element == 1)
    }

    @Test(arguments: 1...10)
    func `it does what a plain list of turns does`(seed: UInt64) {
        var (random, queue, next) = (Generator(state: seed), FairQueue<Int>(), 0)
        var lists: [(owner: String, elements: [Int])] = []
        for _ in 0..<2_000 {
            if random.next() % 5 < 3 {
                let owner = "owner \(random.next() % 7)"
                queue.append(next, of: owner)
                if let position = lists.firstIndex(where: { $0.owner == owner }) {
                    lists[position].elements.append(next)
                } else {
                    lists.append((owner, [next]))
                }
                next += 1
            } else {
                let busy = "owner \(random.next() % 7)"
                let position = lists.firstIndex { $0.owner != busy }
                let taken = queue.popFirst { $0 != busy }
                #expect(taken?.element == position.map { lists[$0].elements[0] })
                guard let position else { continue }
                var list = lists.remove(at: position)
                list.elements.removeFirst()
                if !list.elements.isEmpty { lists.append(list) }
            }
            #expect(queue.count == lists.reduce(0) { $0 + $1.elements.count })
        }
    }

    /// Numbers by a linear congruence (Knuth's constants).
    private struct Generator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
    }
}
