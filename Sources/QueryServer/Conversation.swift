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

    /// The answers to one line.
    private struct Line {
        var isBatch: Bool
        var parts: [[UInt8]?]
        var missing: Int
    }

    private var waiting: Deque<(request: Request, line: Int, part: Int)> = []
    private var lines: Deque<Line> = []
    private var firstLine = 0
    private var writesUnderWay = 0
    private var readUnderWay = false
    private(set) var output = JSONWriter()

    /// Lines that have not been answered yet.
    var unansweredLines: Int { lines.count }

    /// Requests that have not been begun yet.
    var hasWaiting: Bool { !waiting.isEmpty }

    mutating func receive(_ message: Message) {
        let requests: [Request]
        let isBatch: Bool
        switch message {
        case .single(let request): (requests, isBatch) = ([request], false)
        case .batch(let batch): (requests, isBatch) = (batch, true)
        }
        let line = firstLine + lines.count
        lines.append(
            Line(
                isBatch: isBatch, parts: Array(repeating: nil, count: requests.count),
                missing: requests.count))
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
        let index = ticket.line - firstLine
        if request.id != nil { lines[index].parts[ticket.part] = answer }
        lines[index].missing -= 1
        while let line = lines.first, line.missing == 0 {
            write(line)
            lines.removeFirst()
            firstLine += 1
        }
    }

    private mutating func write(_ line: Line) {
        let answers = line.parts.compactMap(\.self)
        guard !answers.isEmpty else { return }  // notifications alone
        if line.isBatch { output.byte(UInt8(ascii: "[")) }
        output.list(answers) { $1.raw($0) }
        if line.isBatch { output.byte(UInt8(ascii: "]")) }
        output.byte(UInt8(ascii: "\n"))
    }

    mutating func takeOutput() -> [UInt8] {
        let bytes = output.bytes
        output.removeAll()
        return bytes
    }
}
