import Dispatch
import Foundation
import Synchronization
import Testing

@testable import Runtime

@Suite(.timeLimit(.minutes(2))) struct WorkThreadTests {
    @Test func `jobs are done one after the other, in their order`() {
        let thread = WorkThread("order")
        let done = Mutex<[Int]>([])
        for number in 0..<1_000 {
            thread.async { done.withLock { $0.append(number) } }
        }
        thread.drain()
        #expect(done.withLock { $0 } == Array(0..<1_000))
    }

    @Test func `jobs of many threads are all done, each in its caller's order`() {
        let thread = WorkThread("many")
        let done = Mutex<[[Int]]>(Array(repeating: [], count: 8))
        DispatchQueue.concurrentPerform(iterations: 8) { caller in
            for number in 0..<2_000 {
                thread.async { done.withLock { $0[caller].append(number) } }
                if number % 100 == 0 { thread.drain() }
            }
        }
        thread.drain()
        #expect(done.withLock { $0 } == Array(repeating: Array(0..<2_000), count: 8))
    }

    private struct Refusal: Error, Equatable {}

    @Test func `a job's value and its error come back`() throws {
        let thread = WorkThread("values")
        #expect(thread.sync { 7 } == 7)
        #expect(throws: Refusal.self) {
            try thread.sync { () throws(Refusal) in throw Refusal() }
        }
    }

    @Test func `what is put off is done later, and at once when the thread ends`() {
        let (isDone, isEnded) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        var thread: WorkThread? = WorkThread("later")
        let start = ContinuousClock.now
        thread!.async(after: .milliseconds(50)) { isDone.signal() }
        thread!.async(after: .seconds(3_600)) { isEnded.signal() }
        isDone.wait()
        #expect(ContinuousClock.now - start >= .milliseconds(50))
        thread = nil
        isEnded.wait()
    }

    @Test func `what is put off is done in the order of its times, then of its coming`() {
        let done = Mutex<[Int]>([])
        let isEnded = DispatchSemaphore(value: 0)
        var thread: WorkThread? = WorkThread("later")
        let hours = (0..<200).map { $0 % 10 }.shuffled()
        for (number, hours) in hours.enumerated() {
            thread!.async(after: .seconds(3_600 * (hours + 1))) {
                let count = done.withLock { done in
                    done.append(number)
                    return done.count
                }
                if count == 200 { isEnded.signal() }
            }
        }
        thread = nil
        isEnded.wait()
        let expected = hours.indices.sorted { (hours[$0], $0) < (hours[$1], $1) }
        #expect(done.withLock { $0 } == expected, "\(hours)")
    }

    @Test func `it ends when it is gone and its jobs are done`() {
        final class Held: Sendable {
            let gone: DispatchSemaphore
            init(_ gone: DispatchSemaphore) { self.gone = gone }
            deinit { gone.signal() }
        }
        let gone = DispatchSemaphore(value: 0)
        do {
            let (thread, held) = (WorkThread("short"), Held(gone))
            // A job that holds its own thread does not keep it for ever.
            thread.async { withExtendedLifetime((thread, held)) {} }
        }
        gone.wait()
    }

    @Test func `it has its name and gives way, and no other thread does`() throws {
        func niceness() -> Int32 { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }
        let before = niceness()
        let thread = WorkThread("named", .background)
        let (name, inside) = thread.sync {
            (try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8), niceness())
        }
        #expect(name == "named\n")
        #expect(inside == max(before, Niceness.background.number(with: .balance)))
        #expect(niceness() == before)
    }

    @Test(arguments: Preference.allCases)
    func `who is preferred goes first, and background work last`(preference: Preference) {
        let (reads, writes) = (
            Niceness.eventLoop.number(with: preference), Niceness.writer.number(with: preference)
        )
        switch preference {
        case .balance:
            // Not by as much as if writes were preferred.
            #expect(reads > writes && reads < Niceness.eventLoop.number(with: .writes))
        case .reads: #expect(reads < writes)
        case .writes: #expect(reads > writes)
        }
        #expect(Niceness.background.number(with: preference) > writes)
        #expect(Niceness.none.number(with: preference) == 0)
    }
}
