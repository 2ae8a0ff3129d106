import Runtime
import Synchronization
import Testing

@Suite struct ChangeSignalTests {
    private static let long = Duration.seconds(600)

    @Test func `What has changed since it was looked at is not waited for`() {
        let signal = ChangeSignal()
        let seen = signal.count
        signal.signal()
        signal.wait(beyond: seen, atMost: Self.long)
        #expect(signal.count == seen + 1)
    }

    @Test func `Nothing is waited for beyond the end`() {
        let signal = ChangeSignal()
        signal.wait(beyond: signal.count, atMost: .milliseconds(1))
        signal.wait(beyond: signal.count, atMost: .zero)
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
                    signal.wait(beyond: seen, atMost: Self.long)
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
