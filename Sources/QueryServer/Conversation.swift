import Backend
import DequeModule
import JSONText
import Objects
import Operations
import WireProtocol

/// The requests of one connection in their order, and the lines their answers make; no sockets.
///
///     conversation.append(bytes)
///     switch conversation.next(parser, …) { case .read(let request): … }
///     conversation.answer(request.id, into: &output) { writer in … }
///
/// Reads run one after the other and after every write before them. Writes are queued one behind
/// the other without waiting, so a client that pipelines gets them committed together. What is
/// under way is therefore one read, or writes, which a backend answers in the order in which they
/// were submitted: answers come in the order of the requests, and each goes straight to the output.
///
/// A request is looked at when every read before it has been answered: first who asks what, then,
/// if that is permitted, its params. One whose look would hold others up is looked at elsewhere.
///
/// Not thread-safe: it lives on its connection's event loop.
struct Conversation {
    /// What whoever holds the conversation has to do next.
    enum Action {
        /// Run a read and `answer`.
        case read(Request)
        /// Submit a write and `answer` when it is done.
        case write(Request, Write, key: RequestKey?)
        /// Look at a text elsewhere, and `take` what was found.
        case examine(LongText)
        /// Nothing until something is answered or more is received.
        case wait
    }

    /// What is left to do for one line.
    private struct Line {
        var isBatch = false
        /// Bytes of the line itself.
        let bytes: Int
        var unanswered = 1
        var hasOutput = false
    }

    private let limits: Limits
    private var framer: LineFramer
    /// Requests of a batch that have not been looked at.
    private var elements: Deque<ArraySlice<UInt8>> = []
    /// A request that has been looked at and waits for what is under way, or a write for room.
    private var waiting: Request?
    /// Lines that have not been answered yet; answers belong to the first.
    private var lines: Deque<Line> = []
    private var unansweredBytes = 0
    private var writesUnderWay = 0
    private var readUnderWay = false
    private var isExamining = false
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
        waiting == nil && elements.isEmpty && !isExamining && !readUnderWay
            && lines.count < limits.pipelinedRequests && unansweredBytes < limits.pipelinedBytes
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
        _ parser: RequestParser, takesWrites: Bool, refusal: (UnreadRequest) -> RPCFailure?
    ) -> Action {
        while !isExamining, !readUnderWay {
            if waiting != nil { return beginWaiting(takesWrites) }
            if let element = elements.popFirst() {
                look(at: element, parser, refusal)
            } else if takesLines, let event = framer.next() {
                take(event, parser, refusal)
            } else {
                break
            }
            if let text = long {
                long = nil
                return .examine(text)
            }
        }
        return .wait
    }

    /// A text that has been found to be long, until the next action says so.
    private var long: LongText?

    /// Takes a line in.
    private mutating func take(
        _ event: LineFramer.Event, _ parser: RequestParser,
        _ refusal: (UnreadRequest) -> RPCFailure?
    ) {
        linesTaken += 1
        guard case .line(let range) = event else {
            lines.append(Line(bytes: 0))
            let failed = UnreadRequest(failed: .lineTooLong(limit: limits.lineBytes))
            _ = look(at: failed, refusal)
            return
        }
        unansweredBytes += range.count
        lines.append(Line(bytes: range.count))
        guard range.count <= LongText.shortBytes else { return examine(LongText(line(range))) }
        // The parser has a copy of its own.
        let message = framer.buffer.withUnsafeBufferPointer {
            parser.parse(UnsafeBufferPointer(rebasing: $0[range]))
        }
        switch message {
        case .batch(let ranges): takeBatch(LongText.elements(ranges, of: line(range)))
        case .single(let unread):
            if !look(at: unread, refusal) {
                examine(LongText(line(range), isAdmitted: true))
            }
        }
    }

    private func line(_ range: Range<Int>) -> ArraySlice<UInt8> { Array(framer.buffer[range])[...] }

    private mutating func takeBatch(_ texts: [ArraySlice<UInt8>]) {
        lines[lines.count - 1].isBatch = true
        lines[lines.count - 1].unanswered = texts.count
        elements = Deque(texts)
    }

    private mutating func look(
        at element: ArraySlice<UInt8>, _ parser: RequestParser,
        _ refusal: (UnreadRequest) -> RPCFailure?
    ) {
        guard element.count <= LongText.shortBytes else {
            return examine(LongText(element, isElement: true))
        }
        let unread = element.withUnsafeBufferPointer(parser.parse(element:))
        if !look(at: unread, refusal) {
            examine(LongText(element, isElement: true, isAdmitted: true))
        }
    }

    /// - Returns: false, when the request is permitted and its params are to be read elsewhere.
    private mutating func look(
        at unread: UnreadRequest, _ refusal: (UnreadRequest) -> RPCFailure?
    ) -> Bool {
        if let failure = refusal(unread) {
            waiting = Request(refusing: unread, failure)
        } else if LongText.isNeeded(for: unread) {
            return false
        } else {
            waiting = Request(reading: unread, limits)
        }
        return true
    }

    private mutating func examine(_ text: LongText) {
        isExamining = true
        long = text
    }

    /// Takes what was found in a text that was looked at elsewhere.
    mutating func take(_ contents: LongText.Contents) {
        isExamining = false
        switch contents {
        case .request(let request): waiting = request
        case .batch(let texts): takeBatch(texts)
        }
    }

    /// Begins the request that waits, if it has to wait no more.
    private mutating func beginWaiting(_ takesWrites: Bool) -> Action {
        let request = waiting!
        if case .success(.write(let write, let key)) = request.call {
            guard takesWrites else { return .wait }
            waiting = nil
            writesUnderWay += 1
            return .write(request, write, key: key)
        }
        guard writesUnderWay == 0 else { return .wait }
        waiting = nil
        readUnderWay = true
        return .read(request)
    }

    /// Appends the next answer, and what stands around it in its line; notifications get none.
    ///
    /// - Parameters:
    ///   - id: the request's; nil for a notification.
    ///   - body: appends the answer to what is under way; false when it has none yet.
    /// - Returns: what `body` returned; with false nothing has been appended.
    @discardableResult
    mutating func answer(
        _ id: String?, into output: inout JSONWriter, _ body: (inout JSONWriter) -> Bool
    ) -> Bool {
        let start = output.count
        if lines[0].isBatch { output.byte(UInt8(ascii: lines[0].hasOutput ? "," : "[")) }
        let isAnswered = body(&output)
        if isAnswered, id != nil {
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
