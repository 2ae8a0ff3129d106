import Runtime
import Synchronization
import Testing

@Suite struct CallbackTests {
    @Test func `The function given last is called`() {
        let callback = Callback()
        let calls = Mutex<[Int]>([])
        callback()
        for number in 1...2 {
            callback.set { calls.withLock { $0.append(number) } }
            callback()
        }
        callback()
        #expect(calls.withLock { $0 } == [1, 2, 2])
    }
}
