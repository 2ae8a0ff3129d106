import NIOCore
import PlainJSON
import Synchronization

/// One start of a watch: its name on one connection, until that ends.
final class WatchLink: NotificationReceiver {
    /// What takes the notifications.
    protocol Owner: AnyObject, Sendable {
        /// The service has begun a watch; false if nobody wants it any more. On the event loop.
        func began(_ link: WatchLink, resumed: Bool) -> Bool
        func receive(_ method: String, _ params: JSONView, from link: WatchLink)
    }

    private let connection: LineConnection
    private let owner: any Owner
    private let name = Mutex<String?>(nil)
    /// Fails with the reason for which the link has ended; never succeeds.
    private let end: EventLoopPromise<Void>

    private init(_ connection: LineConnection, _ owner: any Owner) {
        (self.connection, self.owner) = (connection, owner)
        end = connection.ended.eventLoop.makePromise()
    }

    deinit { end.fail(ClientFailure.disconnected) }

    /// Starts a watch. It ends at once if its answer comes when nobody waits for it any more.
    ///
    /// - Parameter params: of `watch.start`.
    static func start(
        _ params: [UInt8], on connection: LineConnection, deadline: NIODeadline,
        for owner: any Owner
    ) async throws -> WatchLink {
        let link = WatchLink(connection, owner)
        let answer = connection.begin("watch.start", params, deadline: deadline) { link.take($0) }
        _ = try await answer.result()
        guard link.name.withLock({ $0 }) != nil else {
            throw ClientFailure.malformedAnswer("a watch has no name")
        }
        return link
    }

    private func take(_ result: [UInt8]) {
        guard let answer = try? JSONValue(parsing: result), let name = answer["watch"]?.string
        else { return }
        self.name.withLock { $0 = name }
        if owner.began(self, resumed: answer["resumed"]?.bool ?? false) {
            connection.setReceiver(self, of: name)
        } else {
            stop()
        }
    }

    // MARK: Requests

    /// Makes a call about the watch.
    ///
    /// - Parameters:
    ///   - members: its params besides `watch`.
    ///   - onResult: runs on the event loop, before anything behind the answer is read.
    func call(
        _ method: String, _ members: [JSONValue.Member] = [], deadline: NIODeadline,
        onResult: @escaping @Sendable (JSONValue) -> Void
    ) async throws -> JSONValue {
        let params = try ServiceClient.text(.object(watch + members))
        let answer = connection.begin(method, params, deadline: deadline) {
            if let result = try? JSONValue(parsing: $0) { onResult(result) }
        }
        return try JSONValue(parsing: try await answer.result())
    }

    private var watch: [JSONValue.Member] {
        [.init("watch", .string(name.withLock { $0 } ?? ""))]
    }

    /// Ends the watch, without waiting for the answer.
    func stop() {
        guard let name = name.withLock({ $0 }) else { return }
        connection.setReceiver(nil, of: name)
        if connection.isOpen {
            _ = connection.begin("watch.stop", JSONValue.object(watch).utf8)
        }
    }

    // MARK: Its end

    /// Waits until the link ends, and throws the reason. Asks now and then whether the service still
    /// answers, because a network can vanish without a word.
    ///
    /// - Throws: `ClientFailure`; `CancellationError`.
    func wait(checkingEvery time: Duration, timeout: Duration) async throws {
        while true {
            do {
                try await end.futureResult.value(before: .now() + TimeAmount(time))
            } catch ClientFailure.timedOut {
                // If nothing at all comes meanwhile, the connection counts as dead and is closed.
                let deadline = NIODeadline.now() + TimeAmount(timeout)
                let ping = connection.begin("server.ping", Array("{}".utf8), deadline: deadline)
                _ = try? await ping.result()
                try Task.checkCancellation()
            }
        }
    }

    /// Ends the link for a reason.
    func fail(_ reason: any Error) { end.fail(reason) }

    func connectionEnded() { end.fail(ClientFailure.disconnected) }

    func receive(_ method: String, _ params: JSONView) {
        owner.receive(method, params, from: self)
        if method == "watch.end", let name = name.withLock({ $0 }) {
            connection.setReceiver(nil, of: name)
        }
    }
}
