import NIOCore
import Objects

/// How many connections a listener for HTTP has, and how long each may take.
package struct HTTPConnectionLimits: Sendable {
    /// The most connections.
    package var connections: Int
    /// Milliseconds from the beginning of a connection to the end of its first request's head.
    package var requestMilliseconds: Int
    /// Milliseconds of any other step: until the next request, or until a part of an answer is read.
    package var idleMilliseconds: Int
    /// Milliseconds from a request's head to the first part of its answer.
    package var answerMilliseconds: Int
    /// Whether a connection that is being answered gives way to a new one if none waits.
    package var interruptsAnswers = true
    /// Bytes of a request's head.
    package var headBytes = 80 * 1_024

    /// Those of health and metrics.
    package init(_ limits: Limits) {
        connections = limits.httpConnections
        requestMilliseconds = limits.httpRequestMilliseconds
        idleMilliseconds = limits.httpIdleMilliseconds
        answerMilliseconds = idleMilliseconds
    }
}

/// The connections of a listener: their number, their timeouts, and which one is closed for a new
/// one.
///
/// At the limit a connection that waits for a request is closed, so nobody can block health checks
/// by holding connections open: one of the address with the most connections; among these, the
/// oldest. If none waits, one that is being answered gives way, or the new one is closed.
///
/// Used on the listener's event loop only.
final class HTTPConnections {
    private struct Entry {
        let channel: any Channel
        let address: String
        var isAnswered = false
        var isStopping = false
        /// When the present wait for a request, or the present answer, began.
        var since: NIODeadline
        /// When the timeout expires, unless something happens first.
        var end: NIODeadline
    }

    private let limits: HTTPConnectionLimits
    private let loop: any EventLoop
    private var entries: [ObjectIdentifier: Entry] = [:]
    /// When the timeouts are looked at next; nil while there are none.
    private var nextLook: NIODeadline?

    /// Milliseconds that a client has to close a connection after its last answer.
    private static let closingMilliseconds = 2_000

    init(limits: HTTPConnectionLimits, on loop: any EventLoop) {
        (self.limits, self.loop) = (limits, loop)
    }

    func admit(_ channel: any Channel) {
        while entries.count >= limits.connections, let key = givesWay() { close(key) }
        guard entries.count < limits.connections else { return channel.close(promise: nil) }
        let now = loop.now
        let key = ObjectIdentifier(channel)
        let end = now + .milliseconds(Int64(limits.requestMilliseconds))
        entries[key] = Entry(
            channel: channel, address: channel.remoteAddress?.ipAddress ?? "", since: now, end: end)
        look(by: end)
        channel.closeFuture.assumeIsolated().whenComplete { [self] _ in entries[key] = nil }
    }

    /// Closes a waiting connection, if there is one, to free its descriptor.
    func makeRoom() {
        if let key = givesWay(), entries[key]?.isAnswered == false { close(key) }
    }

    private func givesWay() -> ObjectIdentifier? {
        var counts: [String: Int] = [:]
        for entry in entries.values { counts[entry.address, default: 0] += 1 }
        func rank(_ entry: Entry) -> (Int, Int, NIODeadline) {
            (entry.isAnswered ? 1 : 0, -(counts[entry.address] ?? 0), entry.since)
        }
        let ending = limits.interruptsAnswers ? entries : entries.filter { !$0.value.isAnswered }
        return ending.min { rank($0.value) < rank($1.value) }?.key
    }

    private func close(_ key: ObjectIdentifier) {
        entries.removeValue(forKey: key)?.channel.close(promise: nil)
    }

    /// Restarts the timeout at a request's head, unless earlier requests are still unanswered.
    func noteRequest(_ channel: any Channel) {
        guard entries[ObjectIdentifier(channel)]?.isAnswered == false else { return }
        change(channel, limits.answerMilliseconds) { $0.isAnswered = true }
    }

    /// Restarts the timeout after an answer.
    ///
    /// - Parameters:
    ///   - isLast: whether all requests have been answered.
    ///   - goesOn: whether another request may follow.
    func noteAnswer(_ channel: any Channel, isLast: Bool, goesOn: Bool) {
        let milliseconds = goesOn ? limits.idleMilliseconds : Self.closingMilliseconds
        change(channel, milliseconds) { $0.isAnswered = !isLast }
    }

    /// Restarts the timeout when a part of an answer has been sent.
    func noteProgress(_ channel: any Channel) { change(channel, limits.idleMilliseconds) { _ in } }

    /// Sets the last timeout when the service stops; nothing restarts it.
    func noteStop(_ channel: any Channel) {
        change(channel, Self.closingMilliseconds) { $0.isStopping = true }
    }

    private func change(
        _ channel: any Channel, _ milliseconds: Int, _ body: (inout Entry) -> Void
    ) {
        let key = ObjectIdentifier(channel)
        guard var entry = entries[key], !entry.isStopping else { return }
        entry.since = loop.now
        entry.end = entry.since + .milliseconds(Int64(milliseconds))
        body(&entry)
        entries[key] = entry
        look(by: entry.end)
    }

    /// Looks at the timeouts at a time, unless an earlier look will lead to one.
    private func look(by time: NIODeadline) {
        if let nextLook, nextLook <= time { return }
        nextLook = time
        loop.assumeIsolated().scheduleTask(deadline: time) { [weak self] in
            guard let self, nextLook == time else { return }
            nextLook = nil
            closeLate()
        }
    }

    /// Closes the connections whose timeouts have expired, and waits for the next to expire.
    private func closeLate() {
        let now = loop.now
        for (key, entry) in entries where entry.end <= now { close(key) }
        if let next = entries.values.map(\.end).min() { look(by: next) }
    }
}
