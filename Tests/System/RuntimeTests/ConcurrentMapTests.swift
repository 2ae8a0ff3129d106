import Synchronization
import Testing

@testable import Runtime

struct ConcurrentMapTests {
    @Test(arguments: [0, 1, 2, 3, 1_000]) func `each number is made once, in its place`(
        _ count: Int
    ) {
        let calls = Mutex<[Int]>([])
        let squares = concurrentMap(count) { number in
            calls.withLock { $0.append(number) }
            return number * number
        }
        #expect(squares == (0..<count).map { $0 * $0 })
        #expect(calls.withLock { $0.sorted() } == Array(0..<count))
    }

    @Test func `maps may be within maps`() {
        let sums = concurrentMap(20) { outer in
            concurrentMap(20) { inner in outer * inner }.reduce(0, +)
        }
        #expect(sums == (0..<20).map { $0 * 190 })
    }
}
