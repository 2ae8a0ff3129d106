import DequeModule
import JSONText
import Objects
import ServiceDesk

/// The requests of one connection in order, and the lines of their answers; pure.
///
///     conversation.append(bytes)
///     switch conversation.next(takesWrites: true) { case .run(let request): … }
///     conversation.answer(request.id, into: &output) { writer in … }
///
/// A read runs after every earlier request, and so does a write that searches. Other writes are
/// submitted without waiting for each other, so pipelined writes are committed together. Therefore
/// either one request or several writes are in progress. A backend answers writes in the order of their submission, so answers come in the
/// order of the requests and go straight to the output.
///
/// A request is parsed after every earlier read has been answered. Admission comes first, by
/// caller, method and bucket; the params are read only if it succeeds. A request that would block
/// other connections is parsed on a worker thread.
struct Conversation {
    /// What the owner of the conversation has to do next.
    enum Action {
        /// Parse the next text and `take` the result before anything else.
        case parse
        /// Parse a text on a worker thread, and `take` the result.
        indirect case parseOnWorker(LongText)
        /// Carry out a request, or report that it has failed, and `answer`.
        case run(ServiceRequest)
    }

    /// A text that is parsed on the event loop.
    private enum Text {
        /// Bytes of the framer's buffer.
        case line(Range<Int>)
        indirect case element(ArraySlice<UInt8>)
        /// A line over the limit, whose bytes were dropped.
        case tooLong
    }

    /// The current request; everything after it waits.
    private enum Head {
        case none
        case parsing(Text)
        /// To be parsed on a worker thread, and not yet submitted.
        indirect case long(LongText)
        case parsingOnWorker
        /// Waits for the requests in progress, or, if it is a write, for room in the queue.
        case request(ServiceRequest)
    }

    private enum UnderWay: Equatable {
        case nothing
        /// A read, or a write that searches.
        case alone
        case writes(Int)
    }

    /// The remaining work for one line.
    private struct Line {
        var isBatch = false
        /// Bytes of the line itself.
        let bytes: Int
        var unanswered = 1
        var hasAnswers = false
        /// Answers to a batch that are kept until its end, so that notifications may stand before
        /// them; nil when they go to the output one by one.
        var kept: [UInt8]?
    }

    private let limits: Limits
    private var framer: LineFramer
    private var head = Head.none
    private var underWay = UnderWay.nothing
    /// Requests of a batch that have not been parsed.
    private var elements: Deque<ArraySlice<UInt8>> = []
    /// Lines that have not been answered yet; answers belong to the first.
    private var lines: Deque<Line> = []
    private var unansweredBytes = 0
    /// Lines accepted in total.
    private(set) var linesTaken = 0
    /// The number of the last line that is accepted.
    private var lastLine = Int.max
    /// Whether the answers to a batch stay together, as far as `outputBytes` permits.
    var keepsBatches = false
    /// Bytes received in total.
    private(set) var receivedBytes = 0
    /// How many of the received bytes end with the line of the last request.
    private(set) var takenBytes = 0

    init(limits: Limits) {
        self.limits = limits
        framer = LineFramer(limit: limits.lineBytes)
    }

    // MARK: State

    /// Whether every request has been answered.
    var isDone: Bool { lines.isEmpty }

    /// Whether the conversation accepts another line.
    var takesLines: Bool {
        guard case .none = head else { return false }
        return elements.isEmpty && underWay != .alone && !isOver
            && lines.count < limits.pipelinedRequests
            && unansweredBytes < limits.pipelinedBytes
    }

    /// Whether the last line that is accepted has been taken.
    var isOver: Bool { linesTaken >= lastLine }

    /// Whether bytes may be received although no line is accepted: there are none yet, and a read is
    /// under way. Not to receive would cost two calls of the system for each read that waits.
    var takesBytes: Bool { underWay == .alone && framer.pendingBytes == 0 }

    /// Whether writes are in progress.
    var isWriting: Bool { if case .writes = underWay { true } else { false } }

    /// Whether the next request to start is a write, which needs room in the queue.
    var hasWaitingWrite: Bool {
        guard case .request(let request) = head, request.isWrite else { return false }
        return request.isLoneWrite ? underWay == .nothing : underWay != .alone
    }

    /// Whether the output ends between two lines, not inside the answers to a batch.
    var isBetweenLines: Bool {
        guard let line = lines.first else { return true }
        return !line.hasAnswers || line.kept != nil
    }

    /// Bytes received but not answered, of the incomplete line and of unanswered lines, and of
    /// answers that are kept.
    var bufferedBytes: Int {
        framer.pendingBytes + unansweredBytes + (lines.first?.kept?.count ?? 0)
    }

    /// Whether a line has begun that has not ended yet.
    var isWithinLine: Bool { framer.isWithinLine }

    // MARK: Requests

    /// Takes bytes that came from the client.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        receivedBytes += bytes.count
        framer.append(bytes)
    }

    /// Accepts no further line, whatever has been received.
    mutating func endAfterThisLine() { lastLine = linesTaken }

    /// The next action, which must be carried out; nil until something is answered, parsed or
    /// received.
    ///
    /// - Parameter takesWrites: whether the write queue has room.
    mutating func next(takesWrites: Bool) -> Action? {
        guard underWay != .alone else { return nil }
        switch head {
        case .none: takeNext()
        case .parsing, .parsingOnWorker: return nil
        case .long, .request: break
        }
        switch head {
        case .none, .parsingOnWorker: return nil
        case .parsing: return .parse
        case .long(let text):
            head = .parsingOnWorker
            return .parseOnWorker(text)
        case .request(let request): return begin(request, takesWrites)
        }
    }

    /// Takes the next request of a batch, or the next line.
    private mutating func takeNext() {
        if let element = elements.popFirst() {
            let isShort = element.count <= LongText.shortBytes
            head =
                isShort ? .parsing(.element(element)) : .long(LongText(element, isElement: true))
        } else if takesLines, let event = framer.next() {
            linesTaken += 1
            takenBytes = receivedBytes - framer.pendingBytes
            guard case .line(let range) = event else {
                lines.append(Line(bytes: 0))
                head = .parsing(.tooLong)
                return
            }
            unansweredBytes += range.count
            lines.append(Line(bytes: range.count))
            let isShort = range.count <= LongText.shortBytes
            head = isShort ? .parsing(.line(range)) : .long(LongText(line(range)))
        }
    }

    private func line(_ range: Range<Int>) -> ArraySlice<UInt8> { Array(framer.buffer[range])[...] }

    /// Parses the next text, for `Action.parse`.
    ///
    /// - Parameters:
    ///   - line: parses the bytes of a line; nil for a line over the limit.
    ///   - element: parses the bytes of a request of a batch.
    func parse(
        line: (UnsafeBufferPointer<UInt8>?) -> ParsedText,
        element: (UnsafeBufferPointer<UInt8>) -> ParsedText
    ) -> ParsedText {
        guard case .parsing(let text) = head else {
            preconditionFailure("there is nothing to look at")
        }
        return switch text {
        case .line(let range):
            framer.buffer.withUnsafeBufferPointer { line(UnsafeBufferPointer(rebasing: $0[range])) }
        case .element(let bytes): bytes.withUnsafeBufferPointer(element)
        case .tooLong: line(nil)
        }
    }

    /// Takes the result of parsing a text, here or on a worker thread.
    mutating func take(_ found: ParsedText) {
        switch found {
        case .request(let request): head = .request(request)
        case .batch(let texts):
            lines[lines.count - 1].isBatch = true
            lines[lines.count - 1].unanswered = texts.count
            if keepsBatches { lines[lines.count - 1].kept = [] }
            elements = Deque(texts)
            head = .none
        case .much: head = .long(admittedText())
        }
    }

    private func admittedText() -> LongText {
        switch head {
        case .parsing(.line(let range)): LongText(line(range), isAdmitted: true)
        case .parsing(.element(let bytes)): LongText(bytes, isElement: true, isAdmitted: true)
        default: preconditionFailure("nothing was looked at")
        }
    }

    /// Starts the current request, unless it has to wait.
    private mutating func begin(_ request: ServiceRequest, _ takesWrites: Bool) -> Action? {
        guard takesWrites || !request.isWrite else { return nil }
        if request.isWrite, !request.isLoneWrite {
            head = .none
            if case .writes(let count) = underWay {
                underWay = .writes(count + 1)
            } else {
                underWay = .writes(1)
            }
            return .run(request)
        }
        guard underWay == .nothing else { return nil }
        head = .none
        underWay = .alone
        return .run(request)
    }

    // MARK: Answers

    /// Appends the next answer and the punctuation of its line; notifications get no answer.
    ///
    /// - Parameters:
    ///   - id: the request's; nil for a notification.
    ///   - body: appends the answer itself.
    mutating func answer(
        _ id: String?, into output: inout JSONWriter, _ body: (inout JSONWriter) -> Void
    ) {
        let start = output.count
        if lines[0].isBatch { output.byte(UInt8(ascii: lines[0].hasAnswers ? "," : "[")) }
        body(&output)
        if id != nil {
            lines[0].hasAnswers = true
            keep(from: start, of: &output)
        } else {
            output.truncate(to: start)
        }
        if case .writes(let count) = underWay, count > 1 {
            underWay = .writes(count - 1)
        } else {
            underWay = .nothing
        }
        lines[0].unanswered -= 1
        if lines[0].unanswered == 0 { endLine(&output) }
    }

    /// Keeps an answer back, unless those of its batch have become too long.
    private mutating func keep(from start: Int, of output: inout JSONWriter) {
        guard var kept = lines[0].kept else { return }
        lines[0].kept = nil  // or appending would copy it
        output.withBytes { kept.append(contentsOf: $0[start...]) }
        output.truncate(to: start)
        if kept.count > limits.outputBytes / 2 { output.raw(kept) } else { lines[0].kept = kept }
    }

    private mutating func endLine(_ output: inout JSONWriter) {
        let line = lines.removeFirst()
        unansweredBytes -= line.bytes
        guard line.hasAnswers else { return }
        if let kept = line.kept { output.raw(kept) }
        if line.isBatch { output.byte(UInt8(ascii: "]")) }
        output.byte(UInt8(ascii: "\n"))
    }
}
