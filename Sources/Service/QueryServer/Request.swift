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
    /// What it asks for; nil if it has failed before it starts.
    let call: Call?
    /// Why it has failed; nil if there is a call.
    private let failure: RPCFailure?
    /// Whether planning takes too long for an event loop.
    let isLarge: Bool
    /// Nil for a request that this node carries out.
    let passage: Passage?

    var isWrite: Bool { if case .write = call { true } else { false } }

    /// The bucket that it is about; nil if it is about none, has failed, or another node has it.
    var bucket: BucketName? {
        switch call {
        case .read(let read, _): read.target
        case .write(let write, _): write.bucket
        case nil: nil
        }
    }

    /// Whether it is a write that runs alone among the requests of its connection.
    var isLoneWrite: Bool { if case .write(let write, _) = call { write.searches } else { false } }

    var write: (write: Write, key: RequestKey?)? {
        guard case .write(let write, let key) = call else { return nil }
        return (write, key)
    }

    /// What it asks for.
    ///
    /// - Throws: why it has failed before it starts.
    func validCall() throws(RPCFailure) -> Call {
        if let failure { throw failure }
        return call!
    }

    /// Reads the params of an admitted request.
    convenience init(reading unread: UnreadRequest, _ limits: Limits) {
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
    convenience init(refusing unread: UnreadRequest, _ failure: RPCFailure) {
        self.init(id: unread.id, method: try? unread.method.get(), failure: failure)
    }

    /// An admitted request that another node has to carry out; its params are read there.
    convenience init(passing unread: UnreadRequest, on passage: Passage) {
        self.init(
            id: unread.id, method: try? unread.method.get(),
            failure: RPCFailure(.notHeld(passage.bucket)), passage: passage)
    }

    /// The same request, failed before it starts.
    func refused(_ failure: RPCFailure) -> Request {
        Request(id: id, method: method, failure: failure)
    }

    init(id: String?, method: MethodName?, call: Call, isLarge: Bool = false) {
        (self.id, self.method, self.call, self.isLarge) = (id, method, call, isLarge)
        (failure, passage) = (nil, nil)
    }

    init(id: String?, method: MethodName?, failure: RPCFailure, passage: Passage? = nil) {
        (self.id, self.method, self.failure, self.passage) = (id, method, failure, passage)
        (call, isLarge) = (nil, false)
    }
}
