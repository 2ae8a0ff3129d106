import BackendContract
import JSONText
import LiveQueries
import Objects

/// The desk for doors that wait for answers in tasks: whole messages of the protocol, and calls as
/// values.
///
///     let answer = await desk.answer(body, from: caller, maximumBytes: …)    // JSON-RPC
///     let count = try await desk.ask(.count(clause, in: shops), from: caller)
package struct AsyncDesk: Sendable {
    private let desk: Desk
    private let nodes: (any OtherNodes)?

    /// - Parameter nodes: the nodes that share the buckets; nil if this one has all of them.
    package init(_ desk: Desk, nodes: (any OtherNodes)? = nil) {
        (self.desk, self.nodes) = (desk, nodes)
    }

    private var service: QueryService { desk.service }

    /// Tells the other nodes that a caller is gone.
    package func forget(_ caller: Caller) { nodes?.forget(caller) }

    /// A caller makes one request, except that an export goes on in the next.
    private func forgetUnlessExporting(_ caller: Caller) {
        if caller.exportNode == nil { forget(caller) }
    }

    // MARK: Calls

    /// Carries out a call of a request that has been counted, whatever it calls.
    package func ask<Reply>(
        _ call: TypedCall<Reply>, from caller: Caller
    ) async throws(RPCFailure) -> Reply {
        caller.checkIn()
        let pending = PendingAnswer(by: call, at: desk, caller, nodes)
        desk.carryOut(desk.request(call, from: caller), for: pending, since: now)
        defer { forgetUnlessExporting(caller) }
        return try await pending.value().get()
    }

    /// Begins a watch of the caller's; `Caller.watches` has its notifications.
    package func startWatch(
        _ request: WatchRequest, from caller: Caller
    ) async throws(RPCFailure) {
        try await ask(.startWatch(request), from: caller)
        _ = caller.watches.open()
    }

    private var now: Int64 { service.clock.nanoseconds() }

    // MARK: Messages

    /// The answer to one request or a batch, without a line break; nil if all of it are
    /// notifications.
    ///
    /// Writes of a batch that follow one another are under way together; reads, and writes that
    /// search, run alone.
    ///
    /// - Parameter maximumBytes: of the answers to a batch; when they are more, the requests that
    ///   follow are not begun.
    /// - Throws: `LINE_TOO_LONG` when the answers to a batch are too long.
    package func answer(
        _ message: [UInt8], from caller: Caller, maximumBytes: Int
    ) async throws(RPCFailure) -> [UInt8]? {
        defer { forgetUnlessExporting(caller) }
        switch await parse(message[...], isElement: false, caller) {
        case .request(let request):
            let answer = await begin(request, caller).value()
            return request.id == nil ? nil : answer
        case .much: preconditionFailure("what is much has been read")
        case .batch(let elements):
            var answers = BatchAnswers(maximumBytes: maximumBytes)
            for element in elements {
                guard case .request(let request) = await parse(element, isElement: true, caller)
                else { preconditionFailure("a batch holds no batch") }
                let isLone = !request.isWrite || request.isLoneWrite
                if isLone { try await answers.collect() }
                answers.add(begin(request, caller), of: request)
                if isLone { try await answers.collect() }
            }
            try await answers.collect()
            return answers.text
        }
    }

    private func begin(_ request: ServiceRequest, _ caller: Caller) -> PendingAnswer<TextMaker> {
        var request = request
        if let method = request.method, Method[method].concernsConnection {
            request = request.refused(
                .invalidRequest("\(method.text) belongs to a connection of the line protocol"))
        }
        let pending = PendingAnswer(by: TextMaker(), at: desk, caller, nodes)
        desk.carryOut(request, for: pending, since: now)
        return pending
    }

    private func parse(
        _ text: ArraySlice<UInt8>, isElement: Bool, _ caller: Caller
    ) async -> ParsedText {
        guard text.count <= LongText.shortBytes else {
            return await parse(LongText(text, isElement: isElement), caller)
        }
        let parser = RequestParser(limits: service.limits)
        let parsed = text.withUnsafeBufferPointer { bytes in
            isElement
                ? desk.parse(element: bytes, parser, from: caller)
                : desk.parse(line: bytes, parser, from: caller)
        }
        guard case .much = parsed else { return parsed }
        return await parse(LongText(text, isElement: isElement, isAdmitted: true), caller)
    }

    private func parse(_ text: LongText, _ caller: Caller) async -> ParsedText {
        await onWorker(for: caller) { desk.parse(text, from: caller) }
    }

    /// Reads JSON that is no message; a long text on a worker thread.
    package func reading<Value: Sendable>(
        _ text: [UInt8], for caller: Caller, _ body: @escaping @Sendable (JSONView) -> Value
    ) async throws(JSONSyntaxError) -> Value {
        @Sendable func read() -> Result<Value, JSONSyntaxError> {
            Result { () throws(JSONSyntaxError) in
                let parser = JSONParser()
                defer { withExtendedLifetime(parser) {} }
                return body(try parser.parse(text))
            }
        }
        if text.count <= LongText.shortBytes { return try read().get() }
        return try await onWorker(for: caller, read).get()
    }

    private func onWorker<Value: Sendable>(
        for caller: Caller, _ body: @escaping @Sendable () -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            desk.workers.parsing.submit(for: caller.share) {
                continuation.resume(returning: body())
            }
        }
    }
}

/// Makes the text of an answer.
private struct TextMaker: AnswerMaker {
    func answer(
        to read: ReadyRead, from caller: Caller, until stop: StopSignal?, at desk: Desk
    ) -> [UInt8] {
        var writer = JSONWriter()
        desk.answer(read, from: caller, until: stop, into: &writer)
        return writer.bytes
    }

    func answer(to write: FinishedWrite, at desk: Desk) -> [UInt8] {
        var writer = JSONWriter()
        desk.answer(write, into: &writer)
        return writer.bytes
    }

    func answer(in text: [UInt8]) -> [UInt8] { text }
}

/// The answers to a batch, in order.
private struct BatchAnswers {
    let maximumBytes: Int
    private var joined: [UInt8] = []
    private var begun = 0
    private var pending: [(answer: PendingAnswer<TextMaker>, isAnswered: Bool)] = []

    init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

    /// The whole answer; nil if there is none.
    var text: [UInt8]? { joined.isEmpty ? nil : joined + [UInt8(ascii: "]")] }

    mutating func add(_ answer: PendingAnswer<TextMaker>, of request: ServiceRequest) {
        begun += 1
        pending.append((answer, request.id != nil))
    }

    /// Waits for the answers to come.
    mutating func collect() async throws(RPCFailure) {
        for (answer, isAnswered) in pending {
            let text = await answer.value()
            guard isAnswered else { continue }
            joined.append(UInt8(ascii: joined.isEmpty ? "[" : ","))
            joined += text
        }
        pending.removeAll()
        guard joined.count <= maximumBytes else {
            throw RPCFailure(answersTooLong: maximumBytes, begun: begun)
        }
    }
}

extension RPCFailure {
    fileprivate init(answersTooLong limit: Int, begun: Int) {
        self.init(
            -32600, "LINE_TOO_LONG",
            "the answers are longer than \(limit) bytes; only the first \(begun) requests of the "
                + "batch were begun")
    }
}
