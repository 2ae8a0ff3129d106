import JSONText
import Objects

/// A request whose params have not been read: enough to decide who may, and what it will cost.
///
/// Borrowed: valid until its parser parses again.
public struct UnreadRequest {
    /// The id's JSON as it came; nil for a notification.
    public let id: [UInt8]?
    /// The method, or why this is no request of ours.
    public let method: Result<MethodName, RPCFailure>
    /// What came as params, if it is an object or an array.
    let params: JSONView?

    init(
        id: [UInt8]?, method: Result<MethodName, RPCFailure>, params: JSONView? = nil
    ) {
        self.id = id
        self.method = method
        self.params = params
    }

    /// What could not be read as a request.
    public init(failed failure: RPCFailure, id: [UInt8]? = nil) {
        self.init(id: id ?? Request.nullID, method: .failure(failure))
    }

    /// Whether there are no params at all.
    public var hasNoParams: Bool { (params?.count ?? 0) == 0 }

    /// The bucket that the params name; nil where that is none.
    public var bucket: BucketName? {
        guard let text = text("bucket") else { return nil }
        return try? BucketName(text)
    }

    /// The scope that the params name, the application's own where they name none; nil where they
    /// name what is none.
    public var scope: BucketScope? {
        guard let value = params?["scope"] else { return .application }
        guard value.utf8 != nil, let text = text("scope") else { return nil }
        return try? BucketScope(text, at: "scope")
    }

    /// No name of a bucket or a scope is longer; a longer one is not looked at.
    private static let nameBytes = 256

    private func text(_ name: StaticString) -> String? {
        guard let utf8 = params?[name]?.utf8, utf8.count <= Self.nameBytes else { return nil }
        return String(decoding: utf8, as: UTF8.self)
    }

    /// Whether its params are so many values that even to read them, or to plan what they ask for,
    /// is more than a thread should do for which others wait.
    ///
    /// Of a write that changes objects by their ids the bytes alone count: nothing is planned.
    public var isLarge: Bool {
        guard case .success(let method) = method, let params, method.asksByClause else {
            return false
        }
        return params.nodeCount > Self.fewNodes || params.range.count > Self.fewBytes
    }

    /// A clause, seven nodes or more, costs some microseconds; a position of a polygon, three of
    /// them, less than one.
    private static let fewNodes = 512
    private static let fewBytes = 16 * 1_024

    /// The same request, which has failed before its params were read.
    public func refused(_ failure: RPCFailure) -> Request {
        Request(id: id, method: try? method.get(), call: .failure(failure))
    }
}

extension MethodName {
    /// Whether its params have a clause.
    fileprivate var asksByClause: Bool {
        switch self {
        case .count, .query, .explain, .deleteWhere: true
        default: false
        }
    }
}
