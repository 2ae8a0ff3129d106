import BackendContract
import Dispatch
import JSONText
import NIOEmbedded
import Objects
import ServiceDesk
import Synchronization
import TestSupport
import Testing

@testable import QueryServer

/// Reads that may not begin at once: which of them ask the backend, and when they are answered.
@Suite(.timeLimit(.minutes(20))) struct ReadGateTests {
    private static func get(_ id: Int) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"object.get","params":{"bucket":"bb","id":"xx"}}"#
            + "\n"
    }

    private static func answer(_ id: Int) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"result":{}}"#
    }

    /// Connects to a service; `body` may block its thread.
    private static func serve(
        _ backend: GatedBackend, _ body: @escaping @Sendable (RawConnection) throws -> Void
    ) async throws {
        try await Servers.serve(backend) { port in
            try await onBlockingThreads { try RawConnection.with(port: port, body) }
        }
    }

    @Test func `Pipelined reads that arrived before the backend was asked begin with the first`()
        async throws
    {
        let backend = GatedBackend()
        try await Self.serve(backend) { raw in
            try raw.send(Self.get(1) + Self.get(2) + Self.get(3))
            backend.takeQuestion().ready(nil)
            #expect(try raw.lines(3) == (1...3).map(Self.answer))
            #expect(backend.questionCount == 1)
        }
    }

    @Test func `A read that arrived after the backend was asked asks again`() async throws {
        let backend = GatedBackend()
        try await Self.serve(backend) { raw in
            try raw.send(Self.get(1))
            let first = backend.takeQuestion()
            try raw.send(Self.get(2))
            first.ready(nil)
            #expect(try raw.line() == Self.answer(1))
            backend.takeQuestion().ready(nil)
            #expect(try raw.line() == Self.answer(2))
            #expect(backend.questionCount == 2)
        }
    }

    @Test func `What the backend refuses one read is not refused the next`() async throws {
        let backend = GatedBackend()
        try await Self.serve(backend) { raw in
            try raw.send(Self.get(1) + Self.get(2))
            backend.takeQuestion().ready(ServiceFailure(.temporarilyUnavailable, "away"))
            #expect(try raw.line()?.contains("TEMPORARY_UNAVAILABLE_ERROR") == true)
            backend.takeQuestion().ready(nil)
            #expect(try raw.line() == Self.answer(2))
        }
    }

    // MARK: Early answers

    private static let query =
        #"{"jsonrpc":"2.0","id":1,"method":"bucket.query","params":{"bucket":"bb"}}"#
        + "\n"

    private static let answered = #"{"jsonrpc":"2.0","id":1,"result":"#

    /// Asks a query of a node whose reads see state 1, and lets it begin.
    ///
    /// - Parameters:
    ///   - before: the state that is the latest when the query arrives.
    ///   - after: and when it may begin; nil: there is a later one.
    /// - Returns: how often the query was prepared.
    private static func preparations(latest before: UInt64?, then after: UInt64?) async throws
        -> Int
    {
        let backend = GatedBackend()
        backend.states.withLock { $0 = ReadStates(present: 1, latest: before) }
        try await serve(backend) { raw in
            try raw.send(query)
            let question = backend.takeQuestion()
            // The loop asks before it answers early.
            if before == 1 { backend.awaitPreparation() }
            backend.states.withLock { $0 = ReadStates(present: 1, latest: after) }
            question.ready(nil)
            #expect(try raw.line()?.hasPrefix(answered) == true)
        }
        return backend.preparationCount
    }

    @Test func `While the backend is asked, a query is answered that sees the latest`() async throws
    {
        #expect(try await Self.preparations(latest: 1, then: 1) == 1)
    }

    @Test func `An early answer that another write has overtaken is made again`() async throws {
        #expect(try await Self.preparations(latest: 1, then: nil) == 2)
        #expect(try await Self.preparations(latest: 1, then: 2) == 2)
    }

    @Test func `A node that is behind answers nothing early`() async throws {
        #expect(try await Self.preparations(latest: nil, then: 1) == 1)
        #expect(try await Self.preparations(latest: 2, then: 1) == 1)
    }

    @Test func `A refusal drops the early answer`() async throws {
        let backend = GatedBackend()
        backend.states.withLock { $0 = ReadStates(present: 1, latest: 1) }
        try await Self.serve(backend) { raw in
            try raw.send(Self.query)
            backend.takeQuestion().ready(ServiceFailure(.temporarilyUnavailable, "away"))
            #expect(try raw.line()?.contains("TEMPORARY_UNAVAILABLE_ERROR") == true)
            try raw.send(Self.query)
            backend.takeQuestion().ready(nil)
            #expect(try raw.line()?.hasPrefix(Self.answered) == true)
        }
        #expect(backend.preparationCount == 2)
    }

    @Test func `Where memory is short, early answers are dropped and not their connections`()
        async throws
    {
        let backend = GatedBackend(answerBytes: 8_000)
        backend.states.withLock { $0 = ReadStates(present: 1, latest: 1) }
        var limits = Limits()
        limits.bufferedBytes = 10_000
        limits.lineMilliseconds = 20  // so connections are checked every 5 ms
        try await Servers.serve(backend, limits: limits) { port in
            try await onBlockingThreads {
                try RawConnection.with(port: port) { one in
                    try RawConnection.with(port: port) { two in
                        try one.send(Self.query)
                        let first = backend.takeQuestion()
                        try two.send(Self.query)
                        let second = backend.takeQuestion()
                        backend.awaitDrop()
                        // Both answers at once would be too much again.
                        for (question, raw) in [(first, one), (second, two)] {
                            question.ready(nil)
                            #expect(try raw.line()?.hasPrefix(Self.answered) == true)
                        }
                    }
                }
            }
        }
        #expect(backend.preparationCount > 2)
    }

    @Test func `The reads of one turn of a loop are one question, those that name a change not`()
        throws
    {
        let loop = EmbeddedEventLoop()
        let backend = GatedBackend()
        let service = QueryService(backend: backend, limits: Limits())
        let gate = ReadGate(
            service, loop,
            FinishedAnswers(
                eventLoop: loop, executor: LoopExecutor(), turns: LoopTurns(on: loop)))
        let users = (0..<4).map { _ in WaitingUser() }
        for (number, user) in users.enumerated() {
            let request = ServiceRequest(
                id: "\(number)", method: nil, failure: .lineTooLong(limit: 0))
            gate.hold(
                ReadGate.Arrival(user: user, request: request, begin: 0, bytes: 0),
                atLeast: number == 3 ? 7 : nil)
        }
        loop.run()
        let questions = [backend.takeQuestion(), backend.takeQuestion()]
        #expect(questions.map(\.count) == [1, 3])
        #expect(questions.map(\.change) == [7, nil])
        #expect(users.allSatisfy { $0.taken.isEmpty })
        questions[1].ready(nil)
        loop.run()
        #expect(users.map(\.taken) == [["0"], ["1"], ["2"], []])
    }
}

/// A backend that is asked before each read, and answers when the test does.
private final class GatedBackend: IdleBackend {
    struct Question: Sendable {
        let count: Int
        let change: ChangeNumber?
        let ready: @Sendable (ServiceFailure?) -> Void
    }

    let readsAtOnce = false
    private let questions = Mutex<[Question]>([])
    private let asked = Atomic(0)
    private let arrived = DispatchSemaphore(value: 0)

    /// What reads see.
    let states = Mutex<ReadStates?>(nil)
    private let prepared = Atomic(0)
    private let hasPrepared = DispatchSemaphore(value: 0)

    var questionCount: Int { asked.load(ordering: .relaxed) }
    /// How many queries have been prepared.
    var preparationCount: Int { prepared.load(ordering: .relaxed) }
    var readStates: ReadStates? { states.withLock { $0 } }

    /// Bytes of the answer to a query.
    private let answerBytes: Int
    private let hasDropped = DispatchSemaphore(value: 0)

    init(answerBytes: Int = 0) { self.answerBytes = answerBytes }

    func prepare(_ request: ReadRequest) -> any PreparedRead {
        prepared.add(1, ordering: .relaxed)
        hasPrepared.signal()
        return GatedRead(bytes: answerBytes, dropped: hasDropped)
    }

    /// Returns when a prepared query more is no longer in use.
    func awaitDrop() { hasDropped.wait() }

    /// Returns when a query more has been prepared.
    func awaitPreparation() { hasPrepared.wait() }

    func mayRead(
        _ count: Int, atLeast change: ChangeNumber?,
        _ ready: @escaping @Sendable (ServiceFailure?) -> Void
    ) -> Bool {
        asked.add(1, ordering: .relaxed)
        questions.withLock { $0.append(Question(count: count, change: change, ready: ready)) }
        arrived.signal()
        return false
    }

    /// The next question, as soon as there is one.
    func takeQuestion() -> Question {
        arrived.wait()
        return questions.withLock { $0.removeFirst() }
    }
}

/// A query whose answer is blank.
private final class GatedRead: PreparedRead {
    let isCostly = false
    private let bytes: Int
    private let dropped: DispatchSemaphore

    init(bytes: Int, dropped: DispatchSemaphore) {
        self.bytes = bytes
        self.dropped = dropped
    }

    deinit { dropped.signal() }

    func run(
        maximumBytes: Int, until stop: StopSignal?, into writer: inout JSONWriter
    ) -> ReadEnd {
        writer.raw([UInt8](repeating: 0x20, count: bytes))
        return ReadEnd(count: 0)
    }
}

/// A connection that notes which of its reads may begin.
///
/// `@unchecked Sendable`: the test uses it on one thread.
private final class WaitingUser: StillConnection, @unchecked Sendable {
    private(set) var taken: [String] = []

    override func take(_ finished: FinishedAnswer) {
        if case .mayRead(let request, nil, _, _) = finished { taken.append(request.id ?? "") }
    }
}
