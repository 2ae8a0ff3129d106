import BackendContract
import NIOCore
import Objects
import ServiceDesk

/// Lets the reads of one event loop begin when the backend agrees. The reads that come up in one
/// turn of the loop are one question to it, and its answer is one task of the loop.
///
/// Used on its event loop only.
final class ReadGate {
    /// A read that may not begin at once.
    struct Arrival {
        let user: any ScheduledConnection
        let request: ServiceRequest
        /// When its turn came, by the monotonic clock.
        let begin: Int64
        /// Bytes that its connection has received so far.
        let bytes: Int

        fileprivate func finished(_ failure: ServiceFailure?) -> FinishedAnswers.Item {
            (user, .mayRead(request, failure, begin: begin, bytes: bytes))
        }
    }

    private let service: QueryService
    private let eventLoop: any EventLoop
    private let answers: FinishedAnswers
    private var arrived: [Arrival] = []

    init(_ service: QueryService, _ eventLoop: any EventLoop, _ answers: FinishedAnswers) {
        self.service = service
        self.eventLoop = eventLoop
        self.answers = answers
    }

    /// Sends `mayRead` to the connection when the read may begin, or may not.
    ///
    /// - Parameter change: the change that the read has to see; nil if it names none.
    func hold(_ arrival: Arrival, atLeast change: UInt64?) {
        // Others must not wait for the change that one of them names.
        if let change { return ask([arrival], atLeast: change) }
        arrived.append(arrival)
        guard arrived.count == 1 else { return }
        // The loop runs its tasks when all that has been received is read.
        eventLoop.assumeIsolated().execute { [self] in
            let all = arrived
            arrived.removeAll(keepingCapacity: true)
            ask(all, atLeast: nil)
            if service.readStates?.isLatest == true { readEarly(all) }
        }
    }

    /// Answers reads while the backend is being asked. As long as nothing is written, its answer will
    /// be that they saw the latest, and the processor has not stood idle.
    private func readEarly(_ arrivals: [Arrival]) {
        let end = service.clock.nanoseconds() + Self.earlyTime
        for arrival in arrivals where service.clock.nanoseconds() < end {
            arrival.user.readEarly(arrival.request, since: arrival.begin)
        }
    }

    /// The time in nanoseconds after which no further early answer is begun: others wait for the loop,
    /// and the backend needs about as long.
    private static let earlyTime: Int64 = 500_000

    private func ask(_ arrivals: [Arrival], atLeast change: UInt64?) {
        let ready: @Sendable (ServiceFailure?) -> Void = { [answers] failure in
            answers.put(arrivals.map { $0.finished(failure) })
        }
        if service.mayRead(arrivals.count, atLeast: change, ready) { ready(nil) }
    }
}
