import Backend
import DequeModule
import JSONText
import Objects
import WireProtocol

/// The requests of one connection in their order, and the lines their answers make; no sockets.
///
///     conversation.append(bytes)
///     switch conversation.next(parser, refusal: { … }) { case .read(let request): … }
///     conversation.answer(request, into: &output) { writer in … }
///
/// Reads run one after the other and after every write before them. Writes are queued one behind
/// the other without waiting, so a client that pipelines gets them committed together. What is
/// under way is therefore one read, or writes, which a backend answers in the order in which they
/// were submitted: answers come in the order of the requests, and each goes straight to the output.
///
/// Not thread-safe: it lives on its connection's event loop.
struct Conversation {
    /// What whoever holds the conversation has to do next.
    enum Action {
        /// Run a read and `answer`.
        case read(Request)
        /// Submit a write and `answer` when it is done.
        case write(Request, Write)
        /// Nothing until something is answered or more is received.
        case wait
    }

    /// What is left to do for one line.
    private struct Line {
        let isBatch: Bool
        /// Bytes of the line itself.
        let bytes: Int
        var unanswered: Int
        var hasOutput = false
    }

    private let limits: Limits
    private var framer: LineFramer
    /// Requests that have not been begun yet.
    private var waiting: Deque<Request> = []
    /// Lines that have not been answered yet; answers belong to the first.
    private var lines: Deque<Line> = []
    private var unansweredBytes = 0
    private var writesUnderWay = 0
    private var readUnderWay = false
    /// The next request is a write that has been refused, and waits for its place.
    private var wasRefused = false
    /// Lines that have been taken in, all in all.
    private(set) var linesTaken = 0

    init(limits: Limits) {
        self.limits = limits
        framer = LineFramer(limit: limits.lineBytes)
    }

    /// Whether every request has been answered.
    var isDone: Bool { lines.isEmpty }

    /// Whether another line may be begun.
    var takesLines: Bool {
        waiting.isEmpty && lines.count < limits.pipelinedRequests
            && unansweredBytes < limits.pipelinedBytes
    }

    /// Bytes that came and have not become answers: of the line under way and of those unanswered.
    var heldBytes: Int { framer.pendingBytes + unansweredBytes }

    /// Whether a line has begun that has not ended yet.
    var isWithinLine: Bool { framer.isWithinLine }

    /// Takes bytes that came from the client.
    mutating func append(_ bytes: UnsafeRawBufferPointer) { framer.append(bytes) }

    /// The next thing to do; each action has to be carried out.
    ///
    /// - Parameters:
    ///   - takesWrites: whether a write may be begun.
    ///   - refusal: asked once for each request, when its turn has come; what it returns is answered
    ///     instead.
    mutating func next(
        _ parser: RequestParser, takesWrites: Bool, refusal: (Request) -> RPCFailure?
    ) -> Action {
        while takesLines, let event = framer.next() {
            if let action = take(event, parser, takesWrites, refusal) { return action }
        }
        guard var request = waiting.popFirst() else { return .wait }
        if let action = begin(&request, takesWrites, refusal) { return action }
        waiting.prepend(request)
        return .wait
    }

    /// Takes a line in; the action when it is one request that can be begun at once.
    private mutating func take(
        _ event: LineFramer.Event, _ parser: RequestParser, _ takesWrites: Bool,
        _ refusal: (Request) -> RPCFailure?
    ) -> Action? {
        let message: Message
        var bytes = 0
        switch event {
        case .tooLong: message = .single(Request(failed: .lineTooLong(limit: limits.lineBytes)))
        case .line(let range):
            bytes = range.count
            message = framer.buffer.withUnsafeBufferPointer {
                parser.parse(UnsafeBufferPointer(rebasing: $0[range]))
            }
        }
        unansweredBytes += bytes
        switch message {
        case .single(var request):
            lines.append(Line(isBatch: false, bytes: bytes, unanswered: 1))
            linesTaken += 1
            if let action = begin(&request, takesWrites, refusal) { return action }
            waiting.append(request)
        case .batch(let requests):
            lines.append(Line(isBatch: true, bytes: bytes, unanswered: requests.count))
            linesTaken += 1
            waiting.append(contentsOf: requests)
        }
        return nil
    }

    /// Nil when the request has to wait for what is under way, or a write for room.
    private mutating func begin(
        _ request: inout Request, _ takesWrites: Bool, _ refusal: (Request) -> RPCFailure?
    ) -> Action? {
        guard !readUnderWay else { return nil }
        if case .success(let call) = request.call,
            case .write(let write) = Dispatcher.kind(of: call)
        {
            guard takesWrites else { return nil }
            if let failure = refusal(request) {
                request = request.refused(failure)
                wasRefused = true
            } else {
                writesUnderWay += 1
                return .write(request, write)
            }
        }
        guard writesUnderWay == 0 else { return nil }
        if wasRefused {
            wasRefused = false
        } else if let failure = refusal(request) {
            request = request.refused(failure)
        }
        readUnderWay = true
        return .read(request)
    }

    /// Appends the next answer, and what stands around it in its line; notifications get none.
    ///
    /// - Parameter body: appends the answer to what is under way; false when it has none yet.
    /// - Returns: what `body` returned; with false nothing has been appended.
    @discardableResult
    mutating func answer(
        _ request: Request, into output: inout JSONWriter, _ body: (inout JSONWriter) -> Bool
    ) -> Bool {
        let start = output.count
        if lines[0].isBatch { output.byte(UInt8(ascii: lines[0].hasOutput ? "," : "[")) }
        let isAnswered = body(&output)
        if isAnswered, request.id != nil {
            lines[0].hasOutput = true
        } else {
            output.truncate(to: start)
        }
        guard isAnswered else { return false }
        if readUnderWay { readUnderWay = false } else { writesUnderWay -= 1 }
        lines[0].unanswered -= 1
        if lines[0].unanswered == 0 { endLine(&output) }
        return true
    }

    private mutating func endLine(_ output: inout JSONWriter) {
        let line = lines.removeFirst()
        unansweredBytes -= line.bytes
        guard line.hasOutput else { return }
        if line.isBatch { output.byte(UInt8(ascii: "]")) }
        output.byte(UInt8(ascii: "\n"))
    }
}
