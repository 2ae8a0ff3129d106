import BackendContract
import Objects

/// One request with its params read.
///
/// A class because it is passed on often and has many references: each copy would retain them all.
package final class ServiceRequest: Sendable {
    /// The id's JSON as it came; nil for a notification, which is not answered.
    package let id: String?
    /// The method to count the request under; nil when it is unknown.
    package let method: MethodName?
    /// What it asks for; nil if it has failed before it starts.
    package let call: Call?
    /// Why it has failed; nil if there is a call.
    private let failure: RPCFailure?
    /// Whether planning takes too long for an event loop.
    let isLarge: Bool
    /// Nil for a request that this node carries out.
    package let forwarded: ForwardedRequest?

    package var isWrite: Bool { if case .write = call { true } else { false } }

    /// The bucket that it is about; nil if it is about none, has failed, or another node has it.
    package var bucket: BucketName? {
        switch call {
        case .read(let read, _): read.target
        case .write(let write, _): write.bucket
        case nil: nil
        }
    }

    /// Whether it is a write that runs alone among the requests of its connection.
    package var isLoneWrite: Bool {
        if case .write(let write, _) = call { write.searches } else { false }
    }

    package var write: (write: Write, key: RequestKey?)? {
        guard case .write(let write, let key) = call else { return nil }
        return (write, key)
    }

    /// What it asks for.
    ///
    /// - Throws: why it has failed before it starts.
    package func validCall() throws(RPCFailure) -> Call {
        if let failure { throw failure }
        return call!
    }

    /// Reads the params of an admitted request.
    package convenience init(reading unread: UnreadRequest, _ limits: Limits) {
        switch unread.method {
        case .failure(let failure): self.init(refusing: unread, failure)
        case .success(let name):
            do throws(ServiceFailure) {
                self.init(
                    id: unread.id, method: name, call: try Method[name].call(unread, limits),
                    isLarge: Method[name].isLarge(unread))
            } catch {
                self.init(refusing: unread, RPCFailure(error))
            }
        }
    }

    /// A request that fails before its params are read.
    package convenience init(refusing unread: UnreadRequest, _ failure: RPCFailure) {
        self.init(id: unread.id, method: try? unread.method.get(), failure: failure)
    }

    /// An admitted request that another node has to carry out; its params are read there.
    package convenience init(forwarding unread: UnreadRequest, as forwarded: ForwardedRequest) {
        self.init(
            id: unread.id, method: try? unread.method.get(),
            failure: RPCFailure(.notHeld(forwarded.bucket)), forwarded: forwarded)
    }

    /// The same request, failed before it starts.
    package func refused(_ failure: RPCFailure) -> ServiceRequest {
        ServiceRequest(id: id, method: method, failure: failure)
    }

    package init(id: String?, method: MethodName?, call: Call, isLarge: Bool = false) {
        (self.id, self.method, self.call, self.isLarge) = (id, method, call, isLarge)
        (failure, forwarded) = (nil, nil)
    }

    package init(
        id: String?, method: MethodName?, failure: RPCFailure, forwarded: ForwardedRequest? = nil
    ) {
        (self.id, self.method, self.failure, self.forwarded) = (id, method, failure, forwarded)
        (call, isLarge) = (nil, false)
    }
}
