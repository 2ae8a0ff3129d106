import Runtime
import Synchronization
import Testing

@Suite struct ChangeSignalTests {
    private static let far = monotonicNanoseconds() + 600_000_000_000

    @Test func `What has changed since it was looked at is not waited for`() {
        let signal = ChangeSignal()
        let seen = signal.count
        signal.signal()
        signal.wait(beyond: seen, until: Self.far)
        #expect(signal.count == seen + 1)
    }

    @Test func `Nothing is waited for beyond the end`() {
        let signal = ChangeSignal()
        let now = monotonicNanoseconds()
        signal.wait(beyond: signal.count, until: now + 1_000_000)
        signal.wait(beyond: signal.count, until: now - 1_000_000_000)
        #expect(signal.count == 0)
    }

    @Test func `All who wait go on with a change, whenever they began`() {
        let signal = ChangeSignal()
        let value = Atomic(0)
        let threads = (0..<4).map { WorkThread("waiting \($0)") }
        for thread in threads {
            thread.async {
                while true {
                    let seen = signal.count
                    if value.load(ordering: .sequentiallyConsistent) == 1_000 { return }
                    signal.wait(beyond: seen, until: Self.far)
                }
            }
        }
        for _ in 0..<1_000 {
            value.add(1, ordering: .sequentiallyConsistent)
            signal.signal()
        }
        for thread in threads { thread.drain() }
    }
}
