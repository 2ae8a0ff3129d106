import BackendContract
import JSONText
import Listeners
import Logging
import NIOCore
import Objects
import Operations
import QueryLanguage
import Runtime
import WireProtocol

/// Answers messages that come by another way than a connection of lines, as a connection would.
///
///     let runner = MessageRunner(service: service, workers: workers, …)
///     let answer = await runner.answer(body, from: caller)
///
/// Long texts are parsed, and costly reads run, on worker threads. A read ends with its task, and when
/// the client is gone.
package struct MessageRunner: Sendable {
    private let dispatcher: Dispatcher
    private let workers: Workers
    private let elsewhere: OtherNodes?

    /// - Parameters:
    ///   - elsewhere: the nodes that share the buckets; nil if this one has all of them.
    package init(
        service: Operations.Service, workers: Workers, elsewhere: OtherNodes? = nil,
        logger: Logger
    ) {
        dispatcher = Dispatcher(service: service, logger: logger)
        self.workers = workers
        self.elsewhere = elsewhere
    }

    private var service: Operations.Service { dispatcher.service }

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
        switch await parse(message[...], isElement: false, caller) {
        case .request(let request): return await run(request, caller)
        case .much: preconditionFailure("what is much has been read")
        case .batch(let elements):
            var answers = BatchAnswers(maximumBytes: maximumBytes)
            for element in elements {
                guard case .request(let request) = await parse(element, isElement: true, caller)
                else { preconditionFailure("a batch holds no batch") }
                if let (write, key) = request.write, !request.isLoneWrite {
                    let begin = service.clock.nanoseconds()
                    answers.add(submit(request, write, key, caller, begin), of: request)
                } else {
                    try await answers.collect()
                    answers.add(await run(request, caller))
                }
            }
            try await answers.collect()
            return answers.text
        }
    }

    /// Calls a method for a request that has been counted, whatever it calls.
    ///
    /// - Parameter params: a JSON object.
    /// - Returns: the JSON of the result.
    package func call(
        _ method: MethodName, _ params: [UInt8], from caller: Caller
    ) async throws(RPCFailure) -> [UInt8] {
        caller.checkIn()
        guard
            case .request(let request) = await parse(
                message(method, params), isElement: true, caller)
        else { preconditionFailure("a request is no batch") }
        return try Self.result(in: await run(request, caller) ?? [])
    }

    /// Calls `bucket.clusters` for a request that has been counted.
    ///
    /// - Parameter params: a JSON object.
    /// - Returns: the result, which only another node's is read from JSON.
    package func clusters(
        _ params: [UInt8], from caller: Caller
    ) async throws(RPCFailure) -> ClusterAnswer {
        caller.checkIn()
        guard
            case .request(let request) = await parse(
                message(.clusters, params), isElement: true, caller)
        else { preconditionFailure("a request is no batch") }
        let form = AnswerForm<Result<ClusterAnswer, RPCFailure>>(
            make: { dispatcher.clusters($0, from: caller, until: $1) },
            read: { text in Result { () throws(RPCFailure) in try Self.clusters(in: text) } })
        return try await carryOut(request, caller, service.clock.nanoseconds(), as: form).get()
    }

    /// Begins a watch of the caller's; `Caller.watches` tells what it has to say.
    ///
    /// - Parameter params: those of `watch.start`.
    package func startWatch(_ params: [UInt8], from caller: Caller) async throws(RPCFailure) {
        guard
            case .request(let request) = await parse(
                message(.startWatch, params), isElement: false, caller)
        else { preconditionFailure("a request is no batch") }
        _ = try Self.result(in: await carryOut(request, caller, service.clock.nanoseconds()))
        _ = caller.watches.open()
    }

    private func message(_ method: MethodName, _ params: [UInt8]) -> ArraySlice<UInt8> {
        var writer = JSONWriter()
        RequestWriter.request(id: 0, "\(method.text)", params, to: &writer)
        return writer.bytes[...]
    }

    private static let resultStart = Array(#"{"jsonrpc":"2.0","id":0,"result":"#.utf8)

    private static func result(in answer: [UInt8]) throws(RPCFailure) -> [UInt8] {
        if answer.starts(with: resultStart) {
            return Array(answer[resultStart.count...].dropLast())
        }
        throw failure(in: answer)
    }

    private static func clusters(in answer: [UInt8]) throws(RPCFailure) -> ClusterAnswer {
        let found = try? JSONParser.reading(answer) { $0["result"].flatMap { ClusterAnswer($0) } }
        guard let found else { throw failure(in: answer) }
        return found
    }

    private static func failure(in answer: [UInt8]) -> RPCFailure {
        let failure = try? JSONParser.reading(answer) { $0["error"].flatMap(RPCFailure.init) }
        return failure ?? .invalidRequest("the answer cannot be read")
    }

    // MARK: Parsing

    private func parse(
        _ text: ArraySlice<UInt8>, isElement: Bool, _ caller: Caller
    ) async -> ParsedText {
        guard text.count <= LongText.shortBytes else {
            return await examine(LongText(text, isElement: isElement), caller)
        }
        let parser = RequestParser(limits: service.limits)
        let parsed = text.withUnsafeBufferPointer { bytes in
            isElement
                ? dispatcher.look(atElement: bytes, parser, from: caller)
                : dispatcher.look(atLine: bytes, parser, from: caller)
        }
        guard case .much = parsed else { return parsed }
        return await examine(LongText(text, isElement: isElement, isAdmitted: true), caller)
    }

    private func examine(_ text: LongText, _ caller: Caller) async -> ParsedText {
        await withCheckedContinuation { continuation in
            workers.parsing.submit(for: caller.share) {
                continuation.resume(returning: dispatcher.examine(text, from: caller))
            }
        }
    }

    // MARK: Running

    /// The answer to a request; nil to a notification.
    private func run(_ request: Request, _ caller: Caller) async -> [UInt8]? {
        var request = request
        if let method = request.method, Method[method].concernsConnection {
            request = request.refused(
                .invalidRequest("\(method.text) belongs to a connection of the line protocol"))
        }
        let answer = await carryOut(request, caller, service.clock.nanoseconds())
        return request.id == nil ? nil : answer
    }

    private func carryOut(_ request: Request, _ caller: Caller, _ begin: Int64) async -> [UInt8] {
        let text = AnswerForm<[UInt8]>(
            make: { ready, stop in
                var writer = JSONWriter()
                dispatcher.answer(ready, from: caller, until: stop, into: &writer)
                return writer.bytes
            },
            read: { $0 })
        return await carryOut(request, caller, begin, as: text)
    }

    private func carryOut<Answer>(
        _ request: Request, _ caller: Caller, _ begin: Int64, as form: AnswerForm<Answer>
    ) async -> Answer {
        let course = request.course(
            hasNodes: elsewhere != nil, mayReadAtOnce: service.mayReadAtOnce)
        switch course {
        case .write(let write, let key):
            return form.read(await submit(request, write, key, caller, begin).answer())
        case .passOn(let passage):
            return await passOn(request, passage, over: elsewhere!, caller, begin, as: form)
        case .gather(let gathering):
            return form.read(await gather(request, gathering, over: elsewhere!, caller, begin))
        case .await(let change):
            if let failure = await failureToRead(atLeast: change) {
                let refused = request.refused(RPCFailure(failure))
                return form.make(ReadyRead(request: refused, begin: begin), nil)
            }
        case .run: break
        }
        return await answer(read: request, caller, begin, as: form)
    }

    private func submit(
        _ request: Request, _ write: Write, _ key: RequestKey?, _ caller: Caller, _ begin: Int64
    ) -> WriteUnderWay {
        let (results, report) = AsyncStream<Result<WriteAnswer, ServiceFailure>>.makeStream()
        service.submit(write, key: key, by: caller) {
            report.yield($0)
            report.finish()
        }
        return WriteUnderWay(results: results) { result in
            let finished = FinishedWrite(
                request: request, write: write, result: result, begin: begin)
            var writer = JSONWriter()
            dispatcher.answer(finished, into: &writer)
            return writer.bytes
        }
    }

    private func failureToRead(atLeast change: UInt64?) async -> ServiceFailure? {
        await withCheckedContinuation { continuation in
            let mayRead = service.mayRead(1, atLeast: change) { continuation.resume(returning: $0) }
            if mayRead { continuation.resume(returning: nil) }
        }
    }

    private func answer<Answer>(
        read request: Request, _ caller: Caller, _ begin: Int64, as form: AnswerForm<Answer>
    ) async -> Answer {
        switch dispatcher.start(request, from: caller, since: begin) {
        case .here(let read): return form.make(read, nil)
        case .onWorker(let read): return await offload(request, read, caller, begin, as: form)
        case .after: preconditionFailure("only a connection's own methods wait, and are refused")
        }
    }

    /// Runs a read on a worker thread.
    private func offload<Answer>(
        _ request: Request, _ prepared: ReadyRead?, _ caller: Caller, _ begin: Int64,
        as form: AnswerForm<Answer>
    ) async -> Answer {
        let waiting = WaitingRead(prepared, since: begin)
        let client = ClientPresence.current
        client?.onEnd { waiting.end() }
        defer { client?.onEnd(nil) }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                dispatcher.offload(request, waiting, from: caller, to: workers.reads) { read in
                    continuation.resume(returning: form.make(read, waiting.stop))
                }
            }
        } onCancel: {
            waiting.end()
        }
    }

    // MARK: Other nodes

    /// Tells the other nodes that a caller is gone.
    package func forget(_ caller: Caller) { elsewhere?.forget(caller) }

    private func passOn<Answer>(
        _ request: Request, _ passage: Passage, over nodes: OtherNodes, _ caller: Caller,
        _ begin: Int64, as form: AnswerForm<Answer>
    ) async -> Answer {
        defer { forgetUnlessExporting(caller) }
        switch await nodes.pass(passage, by: caller, since: begin) {
        case .answered(let answer, let node):
            service.counters.countPassedOn()
            if passage.beginsExport { caller.exportNode = node }
            return form.read(answer)
        case .failed(let failure):
            return form.make(
                ReadyRead(request: request.refused(RPCFailure(failure)), begin: begin), nil)
        case .here:
            // The bucket has come to this node meanwhile.
            let text = LongText(passage.text[...], isElement: true, isAdmitted: true)
            guard case .request(let request) = await examine(text, caller) else {
                preconditionFailure("what was passed on is one request")
            }
            return await carryOut(request, caller, begin, as: form)
        }
    }

    /// A caller makes one request, except that an export goes on in the next.
    private func forgetUnlessExporting(_ caller: Caller) {
        if caller.exportNode == nil { forget(caller) }
    }

    private func gather(
        _ request: Request, _ gathering: Gathering, over nodes: OtherNodes, _ caller: Caller,
        _ begin: Int64
    ) async -> [UInt8] {
        defer { forgetUnlessExporting(caller) }
        while true {
            let answers = await nodes.ask(gathering.request, by: caller)
            let answer = await withCheckedContinuation { continuation in
                workers.reads.submit(for: caller.share) {
                    continuation.resume(
                        returning: dispatcher.gathered(
                            answers, gathering, of: request, from: caller, nodes.placement,
                            since: begin))
                }
            }
            if let answer { return answer }
            try? await Task.sleep(for: Dispatcher.gatheringPause)
        }
    }
}

/// What becomes of a request: its text, or a value.
private struct AnswerForm<Answer: Sendable>: Sendable {
    /// The answer to a read, or to a request that has failed already.
    let make: @Sendable (ReadyRead, StopSignal?) -> Answer
    /// The answer that a text has.
    let read: @Sendable ([UInt8]) -> Answer
}

/// A write that has been submitted.
private struct WriteUnderWay {
    let results: AsyncStream<Result<WriteAnswer, ServiceFailure>>
    let write: (Result<WriteAnswer, ServiceFailure>) -> [UInt8]

    /// The answer, when the write is durable and visible, or refused.
    func answer() async -> [UInt8] {
        for await result in results { return write(result) }
        // Only a cancelled task sees no result; nobody gets its answer.
        return []
    }
}

/// The answers to a batch, in order.
private struct BatchAnswers {
    let maximumBytes: Int
    private var joined: [UInt8] = []
    private var begun = 0
    private var writes: [(write: WriteUnderWay, isAnswered: Bool)] = []

    init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

    /// The whole answer; nil if there is none.
    var text: [UInt8]? { joined.isEmpty ? nil : joined + [UInt8(ascii: "]")] }

    mutating func add(_ write: WriteUnderWay, of request: Request) {
        begun += 1
        writes.append((write, request.id != nil))
    }

    mutating func add(_ answer: [UInt8]?) {
        begun += 1
        guard let answer else { return }
        joined.append(UInt8(ascii: joined.isEmpty ? "[" : ","))
        joined += answer
    }

    /// Waits for the writes that are under way.
    mutating func collect() async throws(RPCFailure) {
        for (write, isAnswered) in writes {
            let answer = await write.answer()
            begun -= 1
            add(isAnswered ? answer : nil)
        }
        writes.removeAll()
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
