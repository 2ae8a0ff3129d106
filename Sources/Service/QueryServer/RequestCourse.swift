import BackendContract
import JSONText
import Objects
import Operations
import Runtime
import WireProtocol

/// How a request is carried out, whichever way it has come.
enum RequestCourse {
    /// The writer of the store carries it out.
    case write(Write, RequestKey?)
    /// A node that holds its bucket carries it out.
    case passOn(Passage)
    /// The answers of all nodes make the answer.
    case gather(Gathering)
    /// A read of this node, as soon as the backend has the change; nil: the latest.
    case await(ChangeNumber?)
    /// A read of this node, at once; or a request that has failed.
    case run
}

extension Request {
    /// - Parameters:
    ///   - hasNodes: whether other nodes can be asked.
    ///   - mayReadAtOnce: whether the backend has to be asked for nothing before a read that names a
    ///     change, or none.
    func course(
        hasNodes: Bool, mayReadAtOnce: (any Read, _ atLeast: ChangeNumber?) -> Bool
    ) -> RequestCourse {
        if hasNodes, let passage { return .passOn(passage) }
        switch call {
        case nil: return .run
        case .write(let write, let key): return .write(write, key)
        case .read(let read, let change):
            if hasNodes, let gathering = read.gathering { return .gather(gathering) }
            return mayReadAtOnce(read, change) ? .run : .await(change)
        }
    }
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

extension Dispatcher {
    /// Prepares a read, unless that already takes too long for an event loop.
    ///
    /// - Parameter begin: when its turn came, by the monotonic clock.
    func start(_ request: Request, from caller: Caller, since begin: Int64) -> ReadStart {
        if request.isLarge { return .onWorker(nil) }
        let read = prepare(request, from: caller, since: begin)
        if case .waiting(let wait) = read.preparation { return .after(wait) }
        return read.preparation.isCostly ? .onWorker(read) : .here(read)
    }

    /// The answer that the answers of all nodes make; nil if a part is missing and there is time to
    /// ask again. It may take as long as the store takes to answer.
    func gathered(
        _ answers: [(node: ClusterNode, answer: [UInt8]?)], _ gathering: Gathering,
        of request: Request, from caller: Caller, _ placement: any BucketPlacement,
        since begin: Int64
    ) -> [UInt8]? {
        let isWhole = gathering.isWhole(answers, placement) { service.reaches($0, caller) }
        let end = begin + Int64(service.limits.queryMilliseconds) * 1_000_000
        guard isWhole || service.clock.nanoseconds() > end else { return nil }
        var writer = JSONWriter()
        answer(request, gathering, of: answers, isWhole: isWhole, since: begin, into: &writer)
        return writer.bytes
    }

    /// The time after which a list is gathered again, of which a part is missing.
    static let gatheringPause = Duration.milliseconds(100)
}
