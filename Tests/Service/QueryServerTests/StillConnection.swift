@testable import QueryServer

/// A connection that does nothing; tests override what they look at.
///
/// `@unchecked Sendable`: a test uses it on one thread.
class StillConnection: ScheduledConnection, @unchecked Sendable {
    var bufferedBytes = 0
    var isUnsent = false
    var isIdle = false

    func take(_ finished: FinishedAnswer) {}
    func takeTurn() {}
    func takeRoom() {}
    func sendOutput() {}
    func goOn() {}
    func check(now: Int64) -> Bool { false }
    func evict() {}
}
