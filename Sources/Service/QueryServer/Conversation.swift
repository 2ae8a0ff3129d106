import DequeModule
import JSONText
import Objects
import WireProtocol

/// The requests of one connection in their order, and the lines their answers make; pure.
///
///     conversation.append(bytes)
///     switch conversation.next(takesWrites: true) { case .read(let request): … }
///     conversation.answer(request.id, into: &output) { writer in … }
///
/// Reads run one after the other and after every write before them. Writes are queued one behind
/// the other without waiting, so a client that pipelines gets them committed together. What is
/// under way is therefore one read, or writes, which a backend answers in the order in which they
/// were submitted: answers come in the order of the requests, and each goes straight to the output.
///
/// A request is looked at when every read before it has been answered: first who asks what, then,
/// if that is permitted, its params. One whose look would hold others up is looked at elsewhere.
struct Conversation {
    /// What whoever holds the conversation has to do next.
    enum Action {
        /// Look at the text that is next and, before anything else, `take` what was found.
        case look
        /// Look at a text elsewhere, and `take` what was found.
        case examine(LongText)
        /// Run a read, or tell that the request has failed, and `answer`.
        case read(Request)
        /// Submit a write and `answer` when it is done.
        case write(Request)
    }

    /// A text that is looked at where it arrived.
    private enum Text {
        /// Bytes of the framer's buffer.
        case line(Range<Int>)
        case element(ArraySlice<UInt8>)
        /// A line that is not kept.
        case tooLong
    }

    /// The request whose turn it is: everything behind it waits.
    private enum Head {
        case none
        case looking(Text)
        /// To be examined elsewhere, and not yet handed out.
        case long(LongText)
        case examining
        /// Waits for what is under way, or a write for room.
        case request(Request)
    }

    private enum UnderWay: Equatable {
        case nothing, read
        case writes(Int)
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
    private var head = Head.none
    private var underWay = UnderWay.nothing
    /// Requests of a batch that have not been looked at.
    private var elements: Deque<ArraySlice<UInt8>> = []
    /// Lines that have not been answered yet; answers belong to the first.
    private var lines: Deque<Line> = []
    private var unansweredBytes = 0
    /// Lines that have been taken in, all in all.
    private(set) var linesTaken = 0

    init(limits: Limits) {
        self.limits = limits
        framer = LineFramer(limit: limits.lineBytes)
    }

    // MARK: How it stands

    /// Whether every request has been answered.
    var isDone: Bool { lines.isEmpty }

    /// Whether another line may be begun.
    var takesLines: Bool {
        guard case .none = head else { return false }
        return elements.isEmpty && underWay != .read && lines.count < limits.pipelinedRequests
            && unansweredBytes < limits.pipelinedBytes
    }

    /// Whether the next that happens is a write for which there has to be room.
    var hasWaitingWrite: Bool {
        guard underWay != .read, case .request(let request) = head else { return false }
        return request.isWrite
    }

    /// Whether no answer has been begun that others of its line follow.
    var isBetweenLines: Bool { lines.first?.hasOutput != true }

    /// Bytes that came and have not become answers: of the line under way and of those unanswered.
    var bufferedBytes: Int { framer.pendingBytes + unansweredBytes }

    /// Whether a line has begun that has not ended yet.
    var isWithinLine: Bool { framer.isWithinLine }

    // MARK: Requests

    /// Takes bytes that came from the client.
    mutating func append(_ bytes: UnsafeRawBufferPointer) { framer.append(bytes) }

    /// The next thing to do; each action has to be carried out. Nil: nothing, until something is
    /// answered, found or received.
    ///
    /// - Parameter takesWrites: whether a write may be begun.
    mutating func next(takesWrites: Bool) -> Action? {
        guard underWay != .read else { return nil }
        switch head {
        case .none: takeNext()
        case .looking, .examining: return nil
        case .long, .request: break
        }
        switch head {
        case .none, .examining: return nil
        case .looking: return .look
        case .long(let text):
            head = .examining
            return .examine(text)
        case .request(let request): return begin(request, takesWrites)
        }
    }

    /// Takes in the next request of a batch, or the next line.
    private mutating func takeNext() {
        if let element = elements.popFirst() {
            let isShort = element.count <= LongText.shortBytes
            head =
                isShort ? .looking(.element(element)) : .long(LongText(element, isElement: true))
        } else if takesLines, let event = framer.next() {
            linesTaken += 1
            guard case .line(let range) = event else {
                lines.append(Line(bytes: 0))
                head = .looking(.tooLong)
                return
            }
            unansweredBytes += range.count
            lines.append(Line(bytes: range.count))
            let isShort = range.count <= LongText.shortBytes
            head = isShort ? .looking(.line(range)) : .long(LongText(line(range)))
        }
    }

    private func line(_ range: Range<Int>) -> ArraySlice<UInt8> { Array(framer.buffer[range])[...] }

    /// What `look` finds in the text that is next.
    ///
    /// - Parameters:
    ///   - line: given the bytes of a line; nil when it was too long to be kept.
    ///   - element: given the bytes of a request of a batch.
    func look(
        line: (UnsafeBufferPointer<UInt8>?) -> ParsedText,
        element: (UnsafeBufferPointer<UInt8>) -> ParsedText
    ) -> ParsedText {
        guard case .looking(let text) = head else {
            preconditionFailure("there is nothing to look at")
        }
        return switch text {
        case .line(let range):
            framer.buffer.withUnsafeBufferPointer { line(UnsafeBufferPointer(rebasing: $0[range])) }
        case .element(let bytes): bytes.withUnsafeBufferPointer(element)
        case .tooLong: line(nil)
        }
    }

    /// Takes what was found in a text, here or elsewhere.
    mutating func take(_ found: ParsedText) {
        switch found {
        case .request(let request): head = .request(request)
        case .batch(let texts):
            lines[lines.count - 1].isBatch = true
            lines[lines.count - 1].unanswered = texts.count
            elements = Deque(texts)
            head = .none
        case .much: head = .long(admittedText())
        }
    }

    private func admittedText() -> LongText {
        switch head {
        case .looking(.line(let range)): LongText(line(range), isAdmitted: true)
        case .looking(.element(let bytes)): LongText(bytes, isElement: true, isAdmitted: true)
        default: preconditionFailure("nothing was looked at")
        }
    }

    /// Begins the request that waits, if it has to wait no more.
    private mutating func begin(_ request: Request, _ takesWrites: Bool) -> Action? {
        if request.isWrite {
            guard takesWrites else { return nil }
            head = .none
            if case .writes(let count) = underWay {
                underWay = .writes(count + 1)
            } else {
                underWay = .writes(1)
            }
            return .write(request)
        }
        guard underWay == .nothing else { return nil }
        head = .none
        underWay = .read
        return .read(request)
    }

    // MARK: Answers

    /// Appends the next answer, and what stands around it in its line; notifications get none.
    ///
    /// - Parameters:
    ///   - id: the request's; nil for a notification.
    ///   - body: appends the answer to what is under way.
    mutating func answer(
        _ id: String?, into output: inout JSONWriter, _ body: (inout JSONWriter) -> Void
    ) {
        let start = output.count
        if lines[0].isBatch { output.byte(UInt8(ascii: lines[0].hasOutput ? "," : "[")) }
        body(&output)
        if id != nil {
            lines[0].hasOutput = true
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

    private mutating func endLine(_ output: inout JSONWriter) {
        let line = lines.removeFirst()
        unansweredBytes -= line.bytes
        guard line.hasOutput else { return }
        if line.isBatch { output.byte(UInt8(ascii: "]")) }
        output.byte(UInt8(ascii: "\n"))
    }
}
