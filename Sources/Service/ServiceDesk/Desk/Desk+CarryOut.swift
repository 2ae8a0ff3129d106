import BackendContract
import JSONText
import Objects
import Runtime

/// The course of a request, whichever door it has come by.
extension Desk {
    /// Carries out an admitted request: here, on a worker thread, by the writer, on another node, or
    /// after a change.
    ///
    /// - Parameter begin: when its turn came, by the monotonic clock.
    package func carryOut(_ request: ServiceRequest, for asker: some Asker, since begin: Int64) {
        switch request.course(hasNodes: asker.nodes != nil, mayReadAtOnce: service.mayReadAtOnce) {
        case .write(let write, let key): submit(request, write, key, for: asker, since: begin)
        case .forward(let forwarded):
            forward(request, forwarded, over: asker.nodes!, for: asker, since: begin)
        case .gather(let gathering):
            let stop = StopSignal()
            asker.note(stop)
            gather(request, gathering, over: asker.nodes!, for: asker, since: begin, until: stop)
        case .await(let change): asker.hold(request, atLeast: change, since: begin)
        case .run: start(request, for: asker, since: begin)
        }
    }

    /// Begins a read that the backend has let begin, or answers a request that has failed.
    package func start(_ request: ServiceRequest, for asker: some Asker, since begin: Int64) {
        switch plan(request, from: asker.caller, since: begin) {
        case .here(let read): asker.answer(read)
        case .onWorker(let read):
            offload(request, WaitingRead(read, since: begin), for: asker)
        case .after(let wait): asker.answer(request, after: wait, since: begin)
        }
    }

    private func submit(
        _ request: ServiceRequest, _ write: Write, _ key: RequestKey?, for asker: some Asker,
        since begin: Int64
    ) {
        asker.begin(write)
        service.submit(write, key: key, by: asker.caller) { result in
            asker.finish(
                FinishedWrite(request: request, write: write, result: result, begin: begin))
        }
    }

    // MARK: Other nodes

    private func forward(
        _ request: ServiceRequest, _ forwarded: ForwardedRequest, over nodes: any OtherNodes,
        for asker: some Asker, since begin: Int64
    ) {
        let work = nodes.forward(forwarded, by: asker.caller, since: begin) { end in
            switch end {
            case .here: carryOutHere(request, forwarded, for: asker, since: begin)
            case .answered(let text, let node):
                service.counters.countPassedOn()
                if forwarded.beginsExport { asker.caller.exportNode = node }
                asker.answer(request, with: text)
            case .failed(let failure):
                let refused = request.refused(RPCFailure(failure))
                asker.answer(ReadyRead(request: refused, begin: begin), until: nil)
            }
        }
        asker.note(work)
    }

    /// Reads the params of a request whose bucket has come to this node meanwhile.
    private func carryOutHere(
        _ request: ServiceRequest, _ forwarded: ForwardedRequest, for asker: some Asker,
        since begin: Int64
    ) {
        let text = LongText(forwarded.text[...], isElement: true, isAdmitted: true)
        workers.parsing.submit(for: asker.caller.share) {
            guard case .request(let request) = parse(text, from: asker.caller) else {
                preconditionFailure("what was forwarded is one request")
            }
            asker.resume(request, since: begin)
        }
    }

    /// Asks all nodes, and makes one answer of theirs.
    private func gather(
        _ request: ServiceRequest, _ gathering: Gathering, over nodes: any OtherNodes,
        for asker: some Asker, since begin: Int64, until stop: StopSignal
    ) {
        nodes.ask(gathering.request, by: asker.caller) { answers in
            workers.reads.submit(for: asker.caller.share) {
                let text = gathered(
                    answers, gathering, of: request, from: asker.caller, nodes.placement,
                    since: begin, until: stop)
                if let text { return asker.answer(request, with: text) }
                nodes.execute(after: Self.gatheringPause) {
                    gather(
                        request, gathering, over: nodes, for: asker, since: begin, until: stop)
                }
            }
        }
    }

    /// The answer that the answers of all nodes make; nil if a part is missing, and there is time and
    /// somebody to ask again for. It may take as long as the store takes to answer.
    private func gathered(
        _ answers: [NodeAnswer], _ gathering: Gathering, of request: ServiceRequest,
        from caller: Caller, _ placement: any BucketPlacement, since begin: Int64,
        until stop: StopSignal
    ) -> [UInt8]? {
        let isWhole = gathering.isWhole(answers, placement) { service.reaches($0, caller) }
        let end = begin + Int64(service.limits.queryMilliseconds) * 1_000_000
        guard isWhole || stop.isStopped || service.clock.nanoseconds() > end else { return nil }
        var writer = JSONWriter()
        answer(request, gathering, of: answers, isWhole: isWhole, since: begin, into: &writer)
        return writer.bytes
    }

    /// The time after which a list is gathered again, of which a part is missing.
    private static let gatheringPause = Duration.milliseconds(100)
}

/// The way of a read that may begin.
enum ReadStart {
    /// It is answered where it was started.
    case here(ReadyRead)
    /// A worker thread answers it, and has to prepare it too if it is nil.
    case onWorker(ReadyRead?)
    /// It is answered when what it waits for has come.
    case after(Preparation.Wait)
}

extension Desk {
    /// Prepares a read, unless that already takes too long for an event loop.
    ///
    /// - Parameter begin: when its turn came, by the monotonic clock.
    func plan(_ request: ServiceRequest, from caller: Caller, since begin: Int64) -> ReadStart {
        if request.isLarge { return .onWorker(nil) }
        let read = prepare(request, from: caller, since: begin)
        if case .waiting(let wait) = read.preparation { return .after(wait) }
        return read.preparation.isCostly ? .onWorker(read) : .here(read)
    }
}
