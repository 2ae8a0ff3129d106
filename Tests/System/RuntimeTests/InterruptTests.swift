import Foundation
import Runtime
import TestSupport
import Testing

/// Each wait would take an hour.
@Suite(.timeLimit(.minutes(5))) struct InterruptTests {
    private static let clock = ServiceClock()
    private static var hour: Deadline { clock.deadline(after: .seconds(3_600)) }

    @Test func `A wait ends when it is interrupted, also before it begins`() async throws {
        let pipe = Pipe()
        let descriptor = pipe.fileHandleForReading.fileDescriptor
        let interrupt = Interrupt()
        let thread = WorkThread("waiting")
        async let isReady = withCheckedContinuation { end in
            thread.async {
                end.resume(
                    returning: Result {
                        try Runtime.isReady(
                            descriptor, for: POLLIN, until: Self.hour, unless: interrupt)
                    })
            }
        }
        #expect(!interrupt.isRaised)
        interrupt.raise()
        #expect(interrupt.isRaised)
        #expect(try await isReady.get() == false)
        #expect(
            try Runtime.isReady(descriptor, for: POLLIN, until: Self.hour, unless: interrupt)
                == false)
    }

    @Test func `A wait ends when there is something to read, or at its deadline`() throws {
        let pipe = Pipe()
        let descriptor = pipe.fileHandleForReading.fileDescriptor
        let now = Self.clock.deadline(after: .zero)
        #expect(try isReady(descriptor, for: POLLIN, until: now, unless: Interrupt()) == false)
        pipe.fileHandleForWriting.write(Data("a".utf8))
        #expect(try isReady(descriptor, for: POLLIN, until: Self.hour, unless: Interrupt()))
        #expect(try isReady(descriptor, for: POLLIN, until: now))
    }
}
