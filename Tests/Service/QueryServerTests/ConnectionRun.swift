import BackendContract
import JSONText
import Objects
import ServiceDesk

@testable import QueryServer

/// A connection without a channel, whose actions are carried out as a handler does. Requests are
/// words, answered by themselves: `r…` is a read, `R…` one that runs elsewhere, `s…` one that is told everything
/// first, `w…` a write, `d…` one that searches, `x…` is refused, `n…` a notification, `L…` is examined elsewhere; `[r1,w2]` is a
/// batch. Notifications to the client are `N1`, `N2`, and so on.
struct ConnectionRun {
    private(set) var connection: Connection
    let limits: Limits
    var now: Int64 = 0
    /// Nanoseconds that each read and each write takes.
    var stepTime: Int64 = 0
    /// Nanoseconds that each notification takes.
    var notificationTime: Int64 = 0
    /// Whether there is room for writes.
    var hasRoom = true
    private(set) var isWritable = true

    /// All that has been handed out.
    private(set) var sent = ""
    private(set) var notifications = 0
    /// Notifications that the connection has not fetched.
    private(set) var untold = 0
    private(set) var running: ServiceRequest?
    private(set) var waiting: ServiceRequest?
    /// How many notifications have to be fetched before that is told; nil while it is not due.
    private var untoldBefore: Int?
    private(set) var submitted: [ServiceRequest] = []
    private(set) var onWorker: LongText?
    private(set) var isReading = false
    private(set) var isQueued = false
    private(set) var isPaused = false
    private(set) var isFinishing = false
    private(set) var hasEndedOutput = false
    private(set) var isClosed = false
    /// Requests that were begun.
    private(set) var begun = 0
    /// What was done that must not be.
    private(set) var faults: [String] = []

    init(limits: Limits = Limits(), isSecured: Bool = true, isActive: Bool = true) {
        self.limits = limits
        connection = Connection(limits: limits, isSecured: isSecured, now: 0)
        if isActive { handle(.activated) }
    }

    // MARK: What happens

    mutating func handle(_ event: Connection.Event) {
        connection.receive(event)
        work()
    }

    /// Bytes arrive, if they were asked for.
    mutating func receive(_ text: String) {
        guard isReading else { return }
        Array(text.utf8).withUnsafeBytes { connection.receive(.received($0)) }
        isReading = false
        handle(.readCompleted)
    }

    mutating func setWritable(_ value: Bool) {
        isWritable = value
        handle(.writability(value))
    }

    mutating func setRoom(_ value: Bool) {
        hasRoom = value
        guard value, isPaused else { return }
        isPaused = false
        handle(.room)
    }

    mutating func finishRead() {
        guard let request = running else { return }
        running = nil
        handle(.answered(.read(id: request.id, answer: Self.answer(to: request))))
    }

    mutating func finishWrite() {
        guard !submitted.isEmpty else { return }
        let request = submitted.removeFirst()
        let finished = FinishedWrite(
            request: request, write: Self.write, result: .success(.deleted(0)), begin: now)
        handle(.answered(.write(finished)))
    }

    mutating func finishExamining() {
        guard let text = onWorker else { return }
        onWorker = nil
        handle(.found(.request(Self.request("r\(text.bytes.count)"))))
    }

    mutating func giveTurn() {
        guard isQueued else { return }
        isQueued = false
        handle(.turn)
    }

    /// Notifications begin to wait, and the connection hears of it.
    mutating func notify(_ count: Int = 1) {
        notifications += count
        untold += count
        handle(.notified)
    }

    /// Notifications have waited long enough for the answer to a write.
    mutating func endHold() {
        guard connection.heldSince != nil else { return }
        handle(.overdue)
    }

    /// What a waiting read waits for has come: it is told when everything that waits now is fetched,
    /// or nobody fetches any more.
    mutating func tell() {
        guard waiting != nil else { return }
        let fetches = !isFinishing && !hasEndedOutput && !isClosed
        untoldBefore = fetches ? untoldBefore ?? untold : 0
        tellIfDue()
    }

    private mutating func tellIfDue() {
        guard let request = waiting, untoldBefore == 0 else { return }
        (waiting, untoldBefore) = (nil, nil)
        handle(.answered(.waitedFor(ReadyRead(request: request, begin: now))))
    }

    mutating func check(
        at milliseconds: Int64, unsentBytes: Int = 0, isWelcome: Bool = true,
        isWatching: Bool = false
    ) {
        now = milliseconds * 1_000_000
        let check = Connection.Check(
            now: now, unsentBytes: unsentBytes, isWelcome: isWelcome, isWatching: isWatching)
        handle(.checked(check))
    }

    mutating func finishSending() {
        guard isFinishing else { return }
        isFinishing = false
        handle(.sent)
    }

    /// Everything that is under way comes to its end.
    mutating func finishAll() {
        setWritable(true)
        setRoom(true)
        while running != nil || waiting != nil || !submitted.isEmpty || onWorker != nil || isQueued
        {
            finishRead()
            tell()
            finishWrite()
            finishExamining()
            giveTurn()
        }
        finishSending()
    }

    // MARK: What is done

    private mutating func work() {
        var output = JSONWriter()
        while let action = connection.next(
            now: now, outputBytes: output.count, takesWrites: hasRoom)
        {
            carryOut(action, &output)
        }
        check(output.count == 0, "output is left over")
        tellIfDue()
    }

    private mutating func check(_ condition: Bool, _ fault: String) {
        if !condition { faults.append(fault) }
    }

    private mutating func carryOut(_ action: Connection.Action, _ output: inout JSONWriter) {
        check(!isClosed, "something is done behind the end")
        switch action {
        case .parse:
            let found = connection.parse(line: { Self.find($0) }, element: { Self.find($0) })
            connection.receive(.found(found))
        case .parseOnWorker(let text): onWorker = text
        case .run(let request) where request.isWrite:
            check(running == nil, "a write is begun beside a read")
            check(
                submitted.isEmpty || !(submitted + [request]).contains(where: \.isLoneWrite),
                "a write that searches is not alone")
            check(isWritable && hasRoom, "a write is begun without room")
            begun += 1
            now += stepTime
            submitted.append(request)
        case .run(let request): run(request, &output)
        case .answer(.read(let id, let answer)):
            connection.answer(id, into: &output) { $0.raw(answer) }
        case .answer(.write(let finished)): answer(finished.request, &output)
        case .answer(.mayRead(let request, _, _, _)), .answer(.arrived(let request, _)):
            run(request, &output)
        case .answer(.waitedFor(let read)):
            answer(read.request, &output)
        case .answer(.notified), .answer(.forOtherNode):
            check(false, "it is no answer to a client")
        case .notify:
            check(isWritable, "a notification is given to who does not read")
            now += notificationTime
            guard untold > 0 else { return }
            output.raw(Array("N\(notifications - untold + 1)\n".utf8))
            untold -= 1
            untoldBefore = untoldBefore.map { max($0 - 1, 0) }
            connection.receive(.notified)
        case .hold:
            check(!submitted.isEmpty, "a notification waits for no answer")
            check(output.count == 0, "a notification waits beside an answer")
            check(connection.heldSince == now, "it is not known since when a notification waits")
        case .flush:
            check(output.count > 0, "nothing is handed out")
            sent += String(decoding: output.bytes, as: UTF8.self)
            output.removeAll()
        case .awaitTurn: isQueued = true
        case .awaitRoom:
            check(!hasRoom && !isPaused, "room is waited for that there is")
            isPaused = true
        case .read:
            check(!isReading, "more is read while something is")
            check(isWritable || isFinishing || hasEndedOutput, "more is read than can be answered")
            isReading = true
        case .finish(let words):
            check(
                running == nil && waiting == nil && submitted.isEmpty,
                "the end comes before the answers")
            if words != .nothing { sent += "\(words)" }
            isFinishing = true
        case .endOutput: hasEndedOutput = true
        case .close: isClosed = true
        }
    }

    private mutating func run(_ request: ServiceRequest, _ output: inout JSONWriter) {
        check(
            running == nil && waiting == nil && submitted.isEmpty,
            "a read is begun beside something")
        check(isWritable, "a read is begun for who does not read its answers")
        begun += 1
        now += stepTime
        switch request.id?.first {
        case "R": running = request
        case "s" where connection.isBetweenLines: waiting = request
        default: answer(request, &output)
        }
    }

    private mutating func answer(_ request: ServiceRequest, _ output: inout JSONWriter) {
        connection.answer(request.id, into: &output) { $0.raw(Self.answer(to: request)) }
    }

    // MARK: Requests

    private final class Nothing: Read {
        func run(_ context: ReadContext, into writer: inout JSONWriter) {}
    }

    private static let write: Write = .deleteBucket(.init(trusted: "shops"))

    private static let search: Write = .deleteWhere(
        bucket: .init(trusted: "shops"), clause: .all)

    private static func answer(to request: ServiceRequest) -> [UInt8] {
        Array((request.id ?? "").utf8)
    }

    private static func find(_ bytes: UnsafeBufferPointer<UInt8>?) -> ParsedText {
        guard let bytes else { return .request(request("xLong")) }
        if bytes.first == UInt8(ascii: "[") {
            return .batch(
                Array(bytes).dropFirst().dropLast().split(separator: UInt8(ascii: ",")))
        }
        let word = String(decoding: bytes, as: UTF8.self)
        return word.hasPrefix("L") ? .much : .request(request(word))
    }

    private static func request(_ word: String) -> ServiceRequest {
        let id = word.hasPrefix("n") ? nil : word
        return switch word.first {
        case "w": ServiceRequest(id: id, method: nil, call: .write(write, key: nil))
        case "d": ServiceRequest(id: id, method: nil, call: .write(search, key: nil))
        case "x": ServiceRequest(id: id, method: nil, failure: .lineTooSlow(limit: 0))
        default: ServiceRequest(id: id, method: nil, call: .read(Nothing(), atLeast: nil))
        }
    }
}

extension Limits {
    /// Different for each kind of wait, and short.
    static var impatient: Limits {
        var limits = Limits()
        limits.handshakeMilliseconds = 100
        limits.lineMilliseconds = 200
        limits.unreadMilliseconds = 300
        limits.idleMilliseconds = 400
        return limits
    }
}
