import Objects
import TestSupport
import Testing

@testable import InMemoryEngine

/// The names of buckets in order, against a set that is sorted for each question.
@Suite struct BucketNamesTests {
    private static func name(_ number: Int) -> BucketName {
        let scope = number % 3 == 0 ? "" : number % 3 == 1 ? "users/a/" : "users/b/"
        return BucketName(trusted: "\(scope)b\(number)")
    }

    @Test func `Names are listed by scope, in order, from any of them on`() {
        var generator = SplitMix64(seed: 51)
        var (names, expected) = (BucketNames(), Set<BucketName>())
        let copies: [(BucketNames, Set<BucketName>)] = (0..<20).map { _ in
            for _ in 0..<400 {
                let name = Self.name(Int(generator.next() % 4_000))
                if generator.next() % 4 == 0 {
                    names.remove(name)
                    expected.remove(name)
                } else {
                    names.insert(name)
                    expected.insert(name)
                }
            }
            return (names, expected)
        }
        // The earlier ones too: copies do not change.
        for (names, expected) in copies {
            for text in ["", "users/a", "users/b", "users/none"] {
                let scope = BucketName(trusted: text.isEmpty ? "b" : text + "/b").scope
                let all = expected.filter { $0.scope == scope }.sorted()
                #expect(Array(names.names(in: scope, after: nil)) == all)
                for _ in 0..<5 {
                    let last = Self.name(Int(generator.next() % 4_000))
                    guard last.scope == scope else { continue }
                    #expect(Array(names.names(in: scope, after: last)) == all.filter { last < $0 })
                }
                #expect(names.has(moreThan: all.count - 1, in: scope) == !all.isEmpty)
                #expect(!names.has(moreThan: all.count, in: scope))
            }
        }
        #expect(expected.count > 1_500, "runs have been split")
    }

    @Test func `When all have gone, nothing is left`() {
        var names = BucketNames()
        for number in 0..<2_000 { names.insert(Self.name(number)) }
        for number in (0..<2_000).reversed() { names.remove(Self.name(number)) }
        #expect(Array(names.names(in: .application, after: nil)).isEmpty)
        names.insert(Self.name(0))
        #expect(Array(names.names(in: .application, after: nil)) == [Self.name(0)])
    }
}
