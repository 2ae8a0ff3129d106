import Backend
import JSONText
import Logging
import NIOCore
import Objects
import Operations
import Runtime
import WireProtocol

/// Answers messages that come by another way than a connection of lines, as a connection would.
///
///     let runner = MessageRunner(service: service, workers: workers, …)
///     let answer = await runner.answer(body, from: caller)
///
/// Long texts are parsed, and costly reads run, on worker threads. A cancelled task ends its read.
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
    /// Writes of a batch that follow one another are under way together, reads run alone.
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
            var (text, count) = ([UInt8](), 0)
            var underWay: [Task<[UInt8]?, Never>] = []
            func collect() async throws(RPCFailure) {
                for task in underWay {
                    guard let answer = await task.value else { continue }
                    text.append(UInt8(ascii: text.isEmpty ? "[" : ","))
                    text += answer
                }
                underWay.removeAll()
                guard text.count <= maximumBytes else {
                    throw RPCFailure(answersTooLong: maximumBytes, begun: count)
                }
            }
            for element in elements {
                guard case .request(let request) = await parse(element, isElement: true, caller)
                else { preconditionFailure("a batch holds no batch") }
                count += 1
                if !request.isWrite { try await collect() }
                underWay.append(Task { await run(request, caller) })
                if !request.isWrite { try await collect() }
            }
            try await collect()
            return text.isEmpty ? nil : text + [UInt8(ascii: "]")]
        }
    }

    /// Calls a method.
    ///
    /// - Parameter params: a JSON object.
    /// - Returns: the JSON of the result.
    package func call(
        _ method: MethodName, _ params: [UInt8], from caller: Caller
    ) async throws(RPCFailure) -> [UInt8] {
        guard
            case .request(let request) = await parse(
                message(method, params), isElement: true, caller)
        else { preconditionFailure("a request is no batch") }
        return try Self.result(in: await run(request, caller) ?? [])
    }

    /// Begins a watch of the caller's; `Caller.watches` tells what it has to say.
    ///
    /// - Parameter params: those of `watch.start`.
    package func startWatch(_ params: [UInt8], from caller: Caller) async throws(RPCFailure) {
        guard
            case .request(let request) = await parse(
                message(.startWatch, params), isElement: false, caller)
        else { preconditionFailure("a request is no batch") }
        _ = try Self.result(in: await carryOut(request, caller, monotonicNanoseconds()))
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
        let failure = try? JSONParser.reading(answer) { $0["error"].flatMap(RPCFailure.init) }
        throw failure ?? .invalidRequest("the answer cannot be read")
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
        if let method = request.method, method.needsConnection, case .success = request.call {
            request = request.refused(
                .invalidRequest("\(method.text) belongs to a connection of the line protocol"))
        }
        let answer = await carryOut(request, caller, monotonicNanoseconds())
        return request.id == nil ? nil : answer
    }

    private func carryOut(_ request: Request, _ caller: Caller, _ begin: Int64) async -> [UInt8] {
        if let (write, key) = request.write {
            let result = await withCheckedContinuation { continuation in
                service.submit(write, key: key, by: caller) { continuation.resume(returning: $0) }
            }
            let finished = FinishedWrite(
                request: request, write: write, result: result, begin: begin)
            var writer = JSONWriter()
            dispatcher.answer(finished, into: &writer)
            return writer.bytes
        }
        if let elsewhere {
            if let passage = request.passage {
                return await passOn(request, passage, over: elsewhere, caller, begin)
            }
            if let gathering = request.gathering {
                return await gather(request, gathering, over: elsewhere, caller, begin)
            }
        }
        if let (read, atLeast) = request.read, !service.mayReadAtOnce(read, atLeast: atLeast),
            let failure = await failureToRead(atLeast: atLeast)
        {
            return answer(
                ReadyRead(request: request.refused(RPCFailure(failure)), begin: begin), caller)
        }
        return await answer(read: request, caller, begin)
    }

    private func failureToRead(atLeast change: UInt64?) async -> ServiceFailure? {
        await withCheckedContinuation { continuation in
            let mayRead = service.mayRead(1, atLeast: change) { continuation.resume(returning: $0) }
            if mayRead { continuation.resume(returning: nil) }
        }
    }

    private func answer(read request: Request, _ caller: Caller, _ begin: Int64) async -> [UInt8] {
        guard !request.isLarge else { return await offload(request, nil, caller, begin) }
        let ready = dispatcher.prepare(request, from: caller, since: begin)
        guard !ready.preparation.isCostly else {
            return await offload(request, ready, caller, begin)
        }
        return answer(ready, caller)
    }

    private func answer(
        _ ready: ReadyRead, _ caller: Caller, until stop: StopSignal? = nil
    ) -> [UInt8] {
        var writer = JSONWriter()
        dispatcher.answer(ready, from: caller, until: stop, into: &writer)
        return writer.bytes
    }

    /// Runs a read on a worker thread.
    private func offload(
        _ request: Request, _ prepared: ReadyRead?, _ caller: Caller, _ begin: Int64
    ) async -> [UInt8] {
        let waiting = WaitingRead(prepared, since: begin)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                workers.reads.submit(for: caller.share) {
                    let read =
                        dispatcher.refused(request, waiting) ?? waiting.take()
                        ?? dispatcher.prepare(request, from: caller, since: begin)
                    continuation.resume(returning: answer(read, caller, until: waiting.stop))
                }
            }
        } onCancel: {
            waiting.end()
        }
    }

    // MARK: Other nodes

    private func passOn(
        _ request: Request, _ passage: Passage, over nodes: OtherNodes, _ caller: Caller,
        _ begin: Int64
    ) async -> [UInt8] {
        switch await nodes.pass(passage, by: caller, since: begin) {
        case .answered(let answer, let node):
            service.counters.countPassedOn()
            if passage.beginsExport { caller.exportNode = node }
            return answer
        case .failed(let failure):
            return answer(
                ReadyRead(request: request.refused(RPCFailure(failure)), begin: begin), caller)
        case .here:
            // The bucket has come to this node meanwhile.
            let text = LongText(passage.text[...], isElement: true, isAdmitted: true)
            guard case .request(let request) = await examine(text, caller) else {
                preconditionFailure("what was passed on is one request")
            }
            return await carryOut(request, caller, begin)
        }
    }

    private static let gatheringPause = Duration.milliseconds(100)

    private func gather(
        _ request: Request, _ gathering: Gathering, over nodes: OtherNodes, _ caller: Caller,
        _ begin: Int64
    ) async -> [UInt8] {
        let end = begin + Int64(service.limits.queryMilliseconds) * 1_000_000
        while true {
            let answers = await nodes.ask(gathering.request, by: caller)
            let answer = await withCheckedContinuation { continuation in
                workers.reads.submit(for: caller.share) {
                    let isWhole = gathering.isWhole(answers, for: caller, nodes.placement)
                    guard isWhole || monotonicNanoseconds() > end else {
                        return continuation.resume(returning: [UInt8]?.none)
                    }
                    var writer = JSONWriter()
                    dispatcher.answer(
                        request, gathering, of: answers, isWhole: isWhole, since: begin,
                        into: &writer)
                    continuation.resume(returning: writer.bytes)
                }
            }
            if let answer { return answer }
            try? await Task.sleep(for: Self.gatheringPause)
        }
    }
}

extension MethodName {
    /// Whether the method is about the connection that its request comes on.
    fileprivate var needsConnection: Bool {
        switch self {
        case .login, .startWatch, .moveWatch, .syncWatch, .stopWatch: true
        default: false
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
