import BackendContract
import Objects
import Operations
import WireProtocol

/// One request with its params read.
///
/// A class because it is passed on often and has many references: each copy would retain them all.
final class Request: Sendable {
    /// The id's JSON as it came; nil for a notification, which is not answered.
    let id: String?
    /// The method to count the request under; nil when it is unknown.
    let method: MethodName?
    let call: Result<Call, RPCFailure>
    /// Whether planning takes too long for an event loop.
    let isLarge: Bool
    /// Nil for a request that this node carries out.
    let passage: Passage?

    var isWrite: Bool { if case .success(.write) = call { true } else { false } }

    var write: (write: Write, key: RequestKey?)? {
        guard case .success(.write(let write, let key)) = call else { return nil }
        return (write, key)
    }

    /// Reads the params of an admitted request.
    init(reading unread: UnreadRequest, _ limits: Limits) {
        id = unread.id
        passage = nil
        switch unread.method {
        case .failure(let failure): (method, call, isLarge) = (nil, .failure(failure), false)
        case .success(let name):
            method = name
            do throws(ServiceFailure) {
                call = .success(try Method[name].call(unread, limits))
                isLarge = Method[name].isLarge(unread)
            } catch {
                (call, isLarge) = (.failure(RPCFailure(error)), false)
            }
        }
    }

    /// A request that fails before its params are read.
    init(refusing unread: UnreadRequest, _ failure: RPCFailure) {
        (id, method) = (unread.id, try? unread.method.get())
        (call, isLarge, passage) = (.failure(failure), false, nil)
    }

    /// An admitted request that another node has to carry out; its params are read there.
    init(passing unread: UnreadRequest, on passage: Passage) {
        (id, method) = (unread.id, try? unread.method.get())
        (call, isLarge) = (.failure(RPCFailure(.notHeld(passage.bucket))), false)
        self.passage = passage
    }

    /// The same request, failed before it starts.
    func refused(_ failure: RPCFailure) -> Request {
        Request(id: id, method: method, call: .failure(failure))
    }

    init(
        id: String?, method: MethodName?, call: Result<Call, RPCFailure>, isLarge: Bool = false
    ) {
        self.id = id
        self.method = method
        self.call = call
        self.isLarge = isLarge
        passage = nil
    }
}
