import BackendContract
import Objects

/// How a request is carried out, whichever way it has come.
package enum RequestCourse {
    /// The writer of the store carries it out.
    case write(Write, RequestKey?)
    /// A node that holds its bucket carries it out.
    case forward(ForwardedRequest)
    /// The answers of all nodes make the answer.
    case gather(Gathering)
    /// A read of this node, as soon as the backend has the change; nil: the latest.
    case await(ChangeNumber?)
    /// A read of this node, at once; or a request that has failed.
    case run
}

extension ServiceRequest {
    /// - Parameters:
    ///   - hasNodes: whether other nodes can be asked.
    ///   - mayReadAtOnce: whether the backend has to be asked for nothing before a read that names a
    ///     change, or none.
    package func course(
        hasNodes: Bool, mayReadAtOnce: (any Read, _ atLeast: ChangeNumber?) -> Bool
    ) -> RequestCourse {
        if hasNodes, let forwarded { return .forward(forwarded) }
        switch call {
        case nil: return .run
        case .write(let write, let key): return .write(write, key)
        case .read(let read, let change):
            if hasNodes, let gathering = read.gathering { return .gather(gathering) }
            return mayReadAtOnce(read, change) ? .run : .await(change)
        }
    }
}
