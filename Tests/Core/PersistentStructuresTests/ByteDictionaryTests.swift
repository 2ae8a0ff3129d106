import PersistentStructures
import TestSupport
import Testing

@Suite struct ByteDictionaryTests {
    private struct Value: Hashable {
        let bytes: [UInt8]
        let kind: UInt8

        /// Short ones that come again, and a few so long that they fill blocks.
        init(_ random: inout SplitMix64) {
            let number = Array("\(random.below(4_000))".utf8)
            let length = random.oneIn(300) ? random.below(400_000) : random.below(3)
            bytes = number + [UInt8](repeating: 7, count: length)
            kind = UInt8(random.below(2))
        }

        func address(in dictionary: ByteDictionary) -> UInt32? {
            bytes.withUnsafeBufferPointer { dictionary.address(of: $0, kind: kind) }
        }
    }

    /// A dictionary, and what it has by a table.
    private struct State {
        var dictionary = ByteDictionary()
        var table: [Value: UInt32] = [:]

        func check(_ values: Set<Value>, _ seed: UInt64) {
            #expect(dictionary.count == table.count, "seed \(seed)")
            for value in values {
                let address = value.address(in: dictionary)
                #expect(address == table[value], "seed \(seed)")
                guard let address else { continue }
                #expect(dictionary.bytes(at: address).elementsEqual(value.bytes), "seed \(seed)")
            }
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `any history equals a table's, and copies stay as they were`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var (state, copies, seen): (State, [State], Set<Value>) = (State(), [], [])
        for _ in 0..<6_000 {
            let value = Value(&random)
            seen.insert(value)
            let address = value.bytes.withUnsafeBufferPointer {
                state.dictionary.intern($0, kind: value.kind)
            }
            #expect(address != nil && state.table[value] ?? address == address, "seed \(seed)")
            state.table[value] = address
            if random.oneIn(700) { copies.append(state) }
        }
        for state in copies + [state] { state.check(seen, seed) }
        #expect(Set(state.table.values).count == state.table.count)
    }

    @Test func `a value that fits no block is not kept`() {
        var dictionary = ByteDictionary()
        for (count, fits) in [(1_048_571, true), (1_048_572, false)] {
            let value = [UInt8](repeating: 1, count: count)
            let address = value.withUnsafeBufferPointer { dictionary.intern($0, kind: 0) }
            #expect((address != nil) == fits, "\(count) bytes")
        }
        #expect(dictionary.count == 1)
    }
}
