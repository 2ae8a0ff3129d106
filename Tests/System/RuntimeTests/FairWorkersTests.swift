import Dispatch
import Synchronization
import Testing

@testable import Runtime

/// Threads that several owners share.
@Suite(.timeLimit(.minutes(5))) struct FairWorkersTests {
    /// Jobs that wait until they are let go, and the order in which they began.
    private final class Jobs: Sendable {
        private let begun = Mutex<[String]>([])
        private let gate = DispatchSemaphore(value: 0)

        var names: [String] { begun.withLock { $0 } }

        func paused(_ name: String) -> @Sendable () -> Void {
            {
                self.begun.withLock { $0.append(name) }
                self.gate.wait()
            }
        }

        func letGo(_ count: Int) { for _ in 0..<count { gate.signal() } }
    }

    private static func with(
        threads: Int, _ body: (FairWorkers, Jobs) async throws -> Void
    ) async throws {
        let (workers, jobs) = (FairWorkers("fair", .none, threads: threads), Jobs())
        try await body(workers, jobs)
        jobs.letGo(1_000)
        await workers.shutdownGracefully()
    }

    @Test(arguments: [2, 4])
    func `who has any number of jobs leaves a thread to others`(_ threads: Int) async throws {
        try await Self.with(threads: threads) { workers, jobs in
            for number in 0..<20 { workers.submit(for: "greedy", jobs.paused("greedy \(number)")) }
            try await wait { jobs.names.count == threads - 1 }
            workers.submit(for: "other", jobs.paused("other"))
            try await wait { jobs.names.count == threads }
            #expect(jobs.names.last == "other")
        }
    }

    @Test func `who has long jobs has no more threads in the end than who has short ones`()
        async throws
    {
        try await Self.with(threads: 4) { workers, long in
            let short = Jobs()
            defer { short.letGo(1_000) }
            func runs(_ longs: Int, _ shorts: Int) async throws {
                try await wait { long.names.count == longs && short.names.count == shorts }
            }
            for number in 0..<10 { workers.submit(for: "long", long.paused("\(number)")) }
            try await runs(3, 0)
            for number in 0..<10 { workers.submit(for: "short", short.paused("\(number)")) }
            try await runs(3, 1)
            // Three threads against one become two against two, and stay so whoever ends.
            long.letGo(1)
            try await runs(3, 2)
            long.letGo(1)
            try await runs(4, 2)
            for number in 3...6 {
                short.letGo(1)
                try await runs(4, number)
            }
        }
    }

    @Test func `those who wait have their turns one after the other`() async throws {
        try await Self.with(threads: 1) { workers, jobs in
            for name in ["a1", "a2", "a3", "b1", "b2", "c1"] {
                workers.submit(for: String(name.prefix(1)), jobs.paused(name))
            }
            for count in 1...6 {
                try await wait { jobs.names.count == count }
                jobs.letGo(1)
            }
            #expect(jobs.names == ["a1", "a2", "b1", "c1", "a3", "b2"])
        }
    }

    @Test func `every job is done`() async throws {
        let done = Atomic(0)
        let workers = FairWorkers("fair", .none, threads: 3)
        for number in 0..<3_000 {
            workers.submit(for: "\(number % 7)") { done.add(1, ordering: .relaxed) }
        }
        try await wait { done.load(ordering: .relaxed) == 3_000 }
        await workers.shutdownGracefully()
    }

    @Test func `a drain waits for what runs and for what waits`() async throws {
        let (workers, jobs) = (FairWorkers("fair", .none, threads: 1), Jobs())
        for name in ["a", "b"] { workers.submit(for: name, jobs.paused(name)) }
        jobs.letGo(2)
        workers.drain()
        #expect(jobs.names == ["a", "b"])
        await workers.shutdownGracefully()
        workers.drain()
    }

    @Test func `what has not begun is dropped at the end, what runs is waited for`() async throws {
        let (workers, jobs) = (FairWorkers("fair", .none, threads: 1), Jobs())
        workers.submit(for: "a", jobs.paused("first"))
        workers.submit(for: "b", jobs.paused("second"))
        try await wait { jobs.names == ["first"] }
        async let end: Void = workers.shutdownGracefully()
        // The end drops what waits before it waits for what runs.
        try await wait { workers.waitingCount == 0 }
        jobs.letGo(2)
        await end
        workers.submit(for: "a", jobs.paused("third"))
        #expect(jobs.names == ["first"])
    }
}

/// Returns when a condition holds; throws when the test has run out of time.
private func wait(until condition: () -> Bool) async throws {
    while !condition() { try await Task.sleep(for: .milliseconds(1)) }
}
