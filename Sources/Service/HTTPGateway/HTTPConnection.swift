import HTTPTypes
import HummingbirdCore
import NIOCore
import Synchronization

/// One connection of a listener for HTTP: how far its requests are, and the memory that it holds,
/// which is that of requests that wait or are being read, and of answers until they are sent.
///
/// Answers are sent piece by piece, each when most of those before it have been sent. So a client that
/// does not read holds one answer, and of a file that many are sent only some pieces.
package final class HTTPConnection: Sendable {
    /// The connection whose request the task answers; nil for other tasks.
    @TaskLocal package static var current: HTTPConnection?

    /// How far a connection is.
    enum Stage: Int {
        /// No request is whole: none has come, or a part of one.
        case asking
        /// All requests are answered, and another may come.
        case waiting
        /// A request is being answered.
        case answering
    }

    private struct State {
        var stage = Stage.asking
        var isStopping = false
        /// When the present stage began.
        var since: NIODeadline
        /// When something of an answer was last sent.
        var progress: NIODeadline
        /// When the connection is closed unless something happens first.
        var end: NIODeadline
        /// Bytes that wait to be decoded.
        var waitingBytes = 0
        /// Bytes of the request that is read, and of the answer that is sent.
        var heldBytes = 0
        /// Bytes on their way to the client.
        var unsentBytes = 0
        /// Bytes that somebody else keeps for the connection.
        var keptBytes: (@Sendable () -> Int)?
        /// Resumed when there is room for another piece.
        var room: CheckedContinuation<Void, Never>?
        var isClosed = false
    }

    /// The connection itself.
    package let channel: any Channel
    /// The client, as limits by address see it.
    package let address: String
    private let limits: HTTPConnectionLimits
    private let state: Mutex<State>

    /// Milliseconds that a client has to close a connection after its last answer.
    private static let closingMilliseconds = 2_000
    /// The bytes of a piece.
    package static let pieceBytes = 65_536

    init(_ channel: any Channel, address: String, _ limits: HTTPConnectionLimits) {
        (self.channel, self.address, self.limits) = (channel, address, limits)
        let now = NIODeadline.now()
        let end = now + .milliseconds(Int64(limits.requestMilliseconds))
        state = Mutex(State(since: now, progress: now, end: end))
        channel.closeFuture.whenComplete { [weak self] _ in self?.noteClose() }
    }

    func close() { channel.close(promise: nil) }

    private func noteClose() {
        let room = state.withLock { state in
            state.isClosed = true
            defer { state.room = nil }
            return state.room
        }
        room?.resume()
    }

    // MARK: Stages

    /// A request has begun.
    func noteRequest() { enter(.asking, limits.idleMilliseconds) }

    /// The request is whole.
    func noteWholeRequest() { enter(.answering, limits.answerMilliseconds) }

    /// The answer has been sent.
    ///
    /// - Parameter goesOn: whether another request may follow.
    func noteAnswer(goesOn: Bool) {
        enter(.waiting, goesOn ? limits.idleMilliseconds : Self.closingMilliseconds)
    }

    /// The service stops; nothing gives the connection more time.
    func noteStop() {
        change(Self.closingMilliseconds) { $0.isStopping = true }
    }

    private func enter(_ stage: Stage, _ milliseconds: Int) {
        change(milliseconds) { state in
            state.stage = stage
            (state.since, state.progress) = (.now(), .now())
        }
    }

    private func change(_ milliseconds: Int, _ body: (inout State) -> Void) {
        let end = NIODeadline.now() + .milliseconds(Int64(milliseconds))
        state.withLock { state in
            if !state.isStopping { state.end = end }
            body(&state)
        }
    }

    /// Whether its time is over.
    func isLate(_ now: NIODeadline) -> Bool { state.withLock { $0.end <= now } }

    /// What it deserves: of the connections with the least, the oldest gives way. Nil if it must not.
    ///
    /// A client that leaves its answer unread deserves less than one that is being answered.
    func merit(_ now: NIODeadline) -> (stage: Int, since: NIODeadline)? {
        state.withLock { state in
            guard state.stage == .answering else { return (state.stage.rawValue, state.since) }
            let isUnread = state.unsentBytes > 0 && now - state.progress > Self.unreadTime
            if isUnread { return (state.stage.rawValue, state.progress) }
            return limits.interruptsAnswers ? (state.stage.rawValue + 1, state.since) : nil
        }
    }

    /// The time after which an answer counts as left unread.
    private static let unreadTime = TimeAmount.seconds(5)

    // MARK: Memory

    /// Bytes of memory in use.
    var bufferedBytes: Int {
        let (own, kept) = state.withLock { state in
            (state.waitingBytes + state.heldBytes + state.unsentBytes, state.keptBytes)
        }
        return own + (kept?() ?? 0)
    }

    func noteWaiting(_ bytes: Int) { state.withLock { $0.waitingBytes = bytes } }

    /// Counts memory of the request that is being read or of its answer, until `release`.
    package func hold(_ bytes: Int) { state.withLock { $0.heldBytes += bytes } }

    /// Ends what `hold` began.
    package func release(_ bytes: Int) { state.withLock { $0.heldBytes -= bytes } }

    /// Counts bytes that somebody else keeps for the connection; nil: nobody does.
    package func count(_ keptBytes: (@Sendable () -> Int)?) {
        state.withLock { $0.keptBytes = keptBytes }
    }

    // MARK: Sending

    /// Sends an answer.
    ///
    /// - Parameter isShared: whether the body stays in memory in any case.
    /// - Throws: when the client is gone.
    package func send(
        _ head: HTTPResponse, _ body: [UInt8], isShared: Bool = false,
        _ writer: consuming ResponseWriter
    ) async throws {
        guard body.count > Self.pieceBytes else {
            try await makeRoom(for: body.count)
            let whole = ResponseBody(byteBuffer: ByteBuffer(bytes: body))
            return try await writer.write(response: head, body: whole)
        }
        var output: any ResponseBodyWriter = try await writer.writeHead(head)
        try await send(body, isShared: isShared, &output)
        try await output.finish(nil)
    }

    /// Sends a part of a body.
    ///
    /// - Throws: when the client is gone.
    package func send(
        _ bytes: [UInt8], isShared: Bool = false, _ output: inout any ResponseBodyWriter
    ) async throws {
        let held = isShared ? 0 : bytes.count
        hold(held)
        defer { release(held) }
        for start in stride(from: 0, to: bytes.count, by: Self.pieceBytes) {
            let piece = bytes[start..<min(start + Self.pieceBytes, bytes.count)]
            try await makeRoom(for: piece.count)
            try await output.write(ByteBuffer(bytes: piece))
        }
    }

    /// Waits until at most a piece is on its way, and counts another.
    private func makeRoom(for bytes: Int) async throws {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.isClosed || state.unsentBytes <= Self.pieceBytes { return true }
                state.room = continuation
                return false
            }
            if isThere { continuation.resume() }
        }
        let isClosed = state.withLock { state in
            state.unsentBytes += bytes
            return state.isClosed
        }
        if isClosed { throw ChannelError.ioOnClosedChannel }
    }

    /// Bytes of an answer have been sent, or are lost with the connection.
    func noteSent(_ bytes: Int) {
        let end = NIODeadline.now() + .milliseconds(Int64(limits.idleMilliseconds))
        let room = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if !state.isStopping { state.end = end }
            state.progress = .now()
            state.unsentBytes -= bytes
            guard state.unsentBytes <= Self.pieceBytes else { return nil }
            defer { state.room = nil }
            return state.room
        }
        room?.resume()
    }
}
