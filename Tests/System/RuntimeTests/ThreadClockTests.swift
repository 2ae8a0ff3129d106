import Foundation
import Runtime
import Testing

@Suite struct ThreadClockTests {
    @Test func `Work of the thread passes, sleep does not`() {
        let start = ThreadClock.now
        Thread.sleep(forTimeInterval: 0.2)
        #expect(start.duration(to: ThreadClock.now) < .milliseconds(150))
        let deadline = ThreadClock.deadline(after: .milliseconds(5))
        #expect(!deadline.isOver)
        while !deadline.isOver {}
        #expect(start.duration(to: ThreadClock.now) >= .milliseconds(5))
    }
}
