import NIOCore
import Objects

/// The connections of the gateway: how many there are, which gives way to a new one, and which have
/// had their time.
///
/// A new one always gets a place, so that nobody who holds connections open keeps those out that
/// look after the service. Of the others one that waits for a request gives way before one that is
/// being answered; among those, one of the address that has the most; of these the oldest.
///
/// Used on the gateway's event loop only.
final class HTTPConnections {
    private struct Entry {
        let channel: any Channel
        let address: String
        var isAnswered = false
        var isStopping = false
        /// Since when it has waited for a request, or been answered.
        var since: NIODeadline
        /// When it is closed, unless something has happened.
        var end: NIODeadline
    }

    private let limits: Limits
    private var entries: [ObjectIdentifier: Entry] = [:]

    /// Milliseconds in which a client is to close a connection that it does not want to go on with.
    private static let closingMilliseconds = 2_000

    init(limits: Limits) { self.limits = limits }

    func admit(_ channel: any Channel) {
        while entries.count >= limits.httpConnections, let key = givesWay() { close(key) }
        let now = NIODeadline.now()
        let key = ObjectIdentifier(channel)
        entries[key] = Entry(
            channel: channel, address: channel.remoteAddress?.ipAddress ?? "", since: now,
            end: now + .milliseconds(Int64(limits.httpRequestMilliseconds)))
        channel.closeFuture.assumeIsolated().whenComplete { [self] _ in entries[key] = nil }
    }

    /// Closes one that waits, if there is one, so that its descriptor is free.
    func makeRoom() {
        if let key = givesWay(), entries[key]?.isAnswered == false { close(key) }
    }

    private func givesWay() -> ObjectIdentifier? {
        var counts: [String: Int] = [:]
        for entry in entries.values { counts[entry.address, default: 0] += 1 }
        func rank(_ entry: Entry) -> (Int, Int, NIODeadline) {
            (entry.isAnswered ? 1 : 0, -(counts[entry.address] ?? 0), entry.since)
        }
        return entries.min { rank($0.value) < rank($1.value) }?.key
    }

    private func close(_ key: ObjectIdentifier) {
        entries.removeValue(forKey: key)?.channel.close(promise: nil)
    }

    /// A request's head has come. One behind others that are still answered gives no more time.
    func noteRequest(_ channel: any Channel) {
        guard entries[ObjectIdentifier(channel)]?.isAnswered == false else { return }
        change(channel, limits.httpIdleMilliseconds) { $0.isAnswered = true }
    }

    /// An answer has been sent.
    ///
    /// - Parameters:
    ///   - isLast: whether nothing else that was asked is left to answer.
    ///   - goesOn: whether another request may come.
    func noteAnswer(_ channel: any Channel, isLast: Bool, goesOn: Bool) {
        let milliseconds = goesOn ? limits.httpIdleMilliseconds : Self.closingMilliseconds
        change(channel, milliseconds) { $0.isAnswered = !isLast }
    }

    /// The service stops: nothing gives the connection more time.
    func noteStop(_ channel: any Channel) {
        change(channel, Self.closingMilliseconds) { $0.isStopping = true }
    }

    private func change(
        _ channel: any Channel, _ milliseconds: Int, _ body: (inout Entry) -> Void
    ) {
        let key = ObjectIdentifier(channel)
        guard var entry = entries[key], !entry.isStopping else { return }
        entry.since = .now()
        entry.end = entry.since + .milliseconds(Int64(milliseconds))
        body(&entry)
        entries[key] = entry
    }

    /// Closes those that have had their time.
    func closeLate(now: NIODeadline) {
        for (key, entry) in entries where entry.end <= now { close(key) }
    }
}
