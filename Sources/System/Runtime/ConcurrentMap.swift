import Foundation
import Synchronization

/// The results of `make` for 0 to `count` - 1, computed by as many threads as there are processors.
/// The calling thread is one of them.
public func concurrentMap<Value: Sendable>(
    _ count: Int, _ make: @Sendable (Int) -> Value
) -> [Value] {
    let others = min(count, ProcessInfo.processInfo.activeProcessorCount) - 1
    guard others > 0 else { return (0..<count).map(make) }
    return withoutActuallyEscaping(make) { make in
        let work = SharedWork(count, make)
        let threads = (0..<others).map { WorkThread("map \($0)") }
        for thread in threads { thread.async { work.run() } }
        work.run()
        for thread in threads { thread.drain() }
        return work.takeResults()
    }
}

/// Numbers that several threads take one by one, and what they have made of them.
private final class SharedWork<Value: Sendable>: Sendable {
    private let count: Int
    private let make: @Sendable (Int) -> Value
    private let next = Atomic(0)
    private let results: Mutex<[Value?]>

    init(_ count: Int, _ make: @escaping @Sendable (Int) -> Value) {
        self.count = count
        self.make = make
        results = Mutex(Array(repeating: nil, count: count))
    }

    func run() {
        while case let number = next.add(1, ordering: .relaxed).oldValue, number < count {
            let result = make(number)
            results.withLock { $0[number] = result }
        }
    }

    func takeResults() -> [Value] {
        results.withLock { results in
            defer { results = [] }
            return results.map { $0! }
        }
    }
}
