import Backend
import DequeModule
import JSONText
import Objects
import WireProtocol

/// The requests of one connection in their order, and their answers in the same order; no sockets.
///
/// Reads run one after the other and after every write before them. Writes are queued one behind
/// the other without waiting, so a client that pipelines gets them committed together. What it
/// decides is told as actions; what was done is told back to it.
///
/// Not thread-safe: it lives on its connection's event loop.
struct Conversation {
    /// What whoever holds the conversation has to do next.
    enum Action {
        /// Answer a read and call `answered`.
        case read(Request, Ticket)
        /// Submit a write and call `answered` when it is done.
        case write(Request, Write, Ticket)
        /// Nothing until something is answered or more is received.
        case wait
    }

    /// Names a request under way.
    struct Ticket: Sendable {
        fileprivate let line: Int
        fileprivate let part: Int
        fileprivate let isWrite: Bool
    }

    /// The answers to one line; they go out one by one, in order, as soon as they are there.
    private struct Line {
        let isBatch: Bool
        /// Bytes of the line itself.
        let bytes: Int
        var parts: [Part]
        var nextPart = 0
        var hasOutput = false
    }

    private enum Part {
        case pending
        /// Done: an answer, or nil for a notification, which gets none.
        case done([UInt8]?)
    }

    private var waiting: Deque<(request: Request, line: Int, part: Int)> = []
    private var lines: Deque<Line> = []
    private var firstLine = 0
    private var writesUnderWay = 0
    private var readUnderWay = false
    private(set) var output = JSONWriter()

    /// Lines that have not been answered yet.
    var unansweredLines: Int { lines.count }

    /// Bytes of the lines that have not been answered yet.
    private(set) var unansweredBytes = 0

    /// Requests that have not been begun yet.
    var hasWaiting: Bool { !waiting.isEmpty }

    /// - Parameter bytes: how long the line is.
    mutating func receive(_ message: Message, bytes: Int) {
        let requests: [Request]
        let isBatch: Bool
        switch message {
        case .single(let request): (requests, isBatch) = ([request], false)
        case .batch(let batch): (requests, isBatch) = (batch, true)
        }
        let line = firstLine + lines.count
        lines.append(
            Line(
                isBatch: isBatch, bytes: bytes,
                parts: Array(repeating: .pending, count: requests.count)))
        unansweredBytes += bytes
        for (part, request) in requests.enumerated() {
            waiting.append((request, line, part))
        }
    }

    /// The next thing to do; each action has to be carried out.
    mutating func next() -> Action {
        guard let (request, line, part) = waiting.first else { return .wait }
        if case .success(let call) = request.call,
            case .write(let write) = Dispatcher.kind(of: call)
        {
            guard !readUnderWay else { return .wait }
            waiting.removeFirst()
            writesUnderWay += 1
            return .write(request, write, Ticket(line: line, part: part, isWrite: true))
        }
        guard !readUnderWay, writesUnderWay == 0 else { return .wait }
        waiting.removeFirst()
        readUnderWay = true
        return .read(request, Ticket(line: line, part: part, isWrite: false))
    }

    /// Takes the answer to a request; what is ready, in order, goes to `output`.
    ///
    /// - Parameter answer: without its line break; dropped when the request was a notification.
    mutating func answered(_ ticket: Ticket, _ request: Request, _ answer: [UInt8]) {
        if ticket.isWrite { writesUnderWay -= 1 } else { readUnderWay = false }
        lines[ticket.line - firstLine].parts[ticket.part] = .done(
            request.id == nil ? nil : answer)
        while !lines.isEmpty, writeFirstLine() {
            unansweredBytes -= lines.removeFirst().bytes
            firstLine += 1
        }
    }

    /// Writes what is there of the first line's answers; true when that was the last of them.
    private mutating func writeFirstLine() -> Bool {
        while lines[0].nextPart < lines[0].parts.count {
            guard case .done(let answer) = lines[0].parts[lines[0].nextPart] else { return false }
            lines[0].parts[lines[0].nextPart] = .done(nil)
            lines[0].nextPart += 1
            guard let answer else { continue }
            if lines[0].isBatch { output.byte(UInt8(ascii: lines[0].hasOutput ? "," : "[")) }
            lines[0].hasOutput = true
            output.raw(answer)
        }
        if lines[0].hasOutput {
            if lines[0].isBatch { output.byte(UInt8(ascii: "]")) }
            output.byte(UInt8(ascii: "\n"))
        }
        return true
    }

    mutating func takeOutput() -> [UInt8] {
        let bytes = output.bytes
        output = JSONWriter()  // the bytes go away with the one who took them
        return bytes
    }
}
