import JSONText
import Objects

/// A request whose params have not been read: enough to decide on admission and to estimate its
/// cost.
///
/// Borrowed: valid until its parser parses again.
public struct UnreadRequest {
    /// The id's JSON as it came; nil for a notification, which is not answered.
    public let id: String?
    /// The method, or why the request is invalid.
    public let method: Result<MethodName, RPCFailure>
    /// The params, if they are an object or an array.
    private let params: JSONView?

    init(id: String?, method: Result<MethodName, RPCFailure>, params: JSONView? = nil) {
        self.id = id
        self.method = method
        self.params = params
    }

    /// An invalid request, answered under its id if one was found, else under a null id.
    public init(failed failure: RPCFailure, id: String? = nil) {
        self.init(id: id ?? "null", method: .failure(failure))
    }

    /// Whether there are no params at all.
    public var hasNoParams: Bool { (params?.count ?? 0) == 0 }

    /// The params as a JSON object; nil stands for an empty one.
    ///
    /// - Throws: for params by position.
    public var namedParams: JSONView? {
        get throws(ServiceFailure) {
            guard let params, params.kind == .array else { return params }
            guard params.count == 0 else {
                throw ServiceFailure(
                    .invalidInputData, "params are given by name, in an object", at: "params")
            }
            return nil
        }
    }

    /// The bucket that the params name; nil if the name is missing or invalid.
    public var bucket: BucketName? {
        guard let text = text("bucket") else { return nil }
        return try? BucketName(text)
    }

    /// Whether the params ask for the next piece of something.
    public var continues: Bool { params?["continue"]?.bool == true }

    /// Whether the params have a request key.
    public var hasRequestKey: Bool { params?["requestKey"] != nil }

    /// The scope in the params; the application's scope without one, nil for an invalid one.
    public var scope: BucketScope? {
        guard let value = params?["scope"] else { return .application }
        guard value.utf8 != nil, let text = text("scope") else { return nil }
        return try? BucketScope(text, at: "scope")
    }

    /// No name of a bucket or a scope is longer; a longer one is not read.
    private static let nameBytes = 256

    private func text(_ name: StaticString) -> String? {
        guard let utf8 = params?[name]?.utf8, utf8.count <= Self.nameBytes else { return nil }
        return String(decoding: utf8, as: UTF8.self)
    }

    /// Whether the params have so many values that reading or planning a clause would block an
    /// event loop for too long.
    public var hasManyValues: Bool {
        guard let params else { return false }
        return params.nodeCount > Self.fewNodes || params.range.count > Self.fewBytes
    }

    /// Limits on JSON nodes. A clause has seven nodes or more and costs some microseconds; a
    /// position of a polygon or a line has three and costs less than one.
    private static let fewNodes = 512
    private static let fewBytes = 16 * 1_024
}
