import JSONText
import Objects
import QueryLanguage

/// One request of a line.
///
/// A class because it is handed on much and holds much: copies would count many references.
public final class Request: Sendable {
    /// The id's JSON as it came; nil for a notification, which is not answered.
    public let id: [UInt8]?
    /// The method's name, where there is one to count it under.
    public let method: MethodName?
    public let call: Result<MethodCall, RPCFailure>
    /// What its client calls a write, so that a repeat is recognised.
    public let key: RequestKey?

    static let nullID = Array("null".utf8)

    /// What could not be read as a request, answered under a null id or the one that was found.
    public convenience init(failed failure: RPCFailure, id: [UInt8]? = nil) {
        self.init(id: id ?? Self.nullID, method: nil, call: .failure(failure))
    }

    /// The same request, which has failed before it was begun.
    public func refused(_ failure: RPCFailure) -> Request {
        Request(id: id, method: method, call: .failure(failure), key: key)
    }

    init(
        id: [UInt8]?, method: MethodName?, call: Result<MethodCall, RPCFailure>,
        key: RequestKey? = nil
    ) {
        self.id = id
        self.method = method
        self.call = call
        self.key = key
    }
}

/// What a line holds.
public enum Message: Sendable {
    case single(Request)
    /// A batch, at least one request.
    case batch([Request])
}

/// Lines to requests. A line that holds none becomes a request that has failed already.
///
/// One thread at a time. A class because it is handed on for every line.
public final class RequestParser {
    private let parser = JSONParser()
    private let limits: Limits
    private let methods: MethodTable

    public init(limits: Limits) {
        self.limits = limits
        methods = MethodTable(limits: limits)
    }

    public func parse(_ line: UnsafeBufferPointer<UInt8>) -> Message {
        let view: JSONView
        do {
            view = try parser.parse(line)
        } catch {
            return .single(
                Request(
                    failed: RPCFailure(-32700, "INVALID_JSON", error.message, offset: error.offset))
            )
        }
        guard view.kind == .array else { return .single(request(view)) }
        guard (1...limits.batchRequests).contains(view.count) else {
            return .single(
                Request(
                    failed: .invalidRequest("a batch has 1 to \(limits.batchRequests) requests")))
        }
        return .batch(view.elements.map(request))
    }

    private func request(_ view: JSONView) -> Request {
        guard view.kind == .object else {
            return Request(failed: .invalidRequest("a request is a JSON object"))
        }
        let id = view["id"]
        if let kind = id?.kind, kind == .bool || kind == .array || kind == .object {
            return Request(failed: .invalidRequest("\"id\" has to be a string, a number or null"))
        }
        let idText = id.map { Array($0.text) }
        guard view["jsonrpc"]?.utf8?.elementsEqualBytes("2.0") == true else {
            return Request(failed: .invalidRequest("\"jsonrpc\" has to be \"2.0\""), id: idText)
        }
        guard let name = view["method"]?.utf8 else {
            return Request(failed: .invalidRequest("\"method\" has to be a string"), id: idText)
        }
        let params = view["params"]
        if let params, params.kind != .object, params.kind != .array {
            return Request(failed: .invalidRequest("\"params\" has to be an object"), id: idText)
        }
        guard let method = MethodName(utf8: name) else {
            let name = String(decoding: name, as: UTF8.self)
            return Request(id: idText, method: nil, call: .failure(.methodNotFound(name)))
        }
        do throws(ServiceFailure) {
            let (call, key) = try call(method, params)
            return Request(id: idText, method: method, call: .success(call), key: key)
        } catch {
            return Request(id: idText, method: method, call: .failure(RPCFailure(error)))
        }
    }

    private func call(
        _ method: MethodName, _ params: JSONView?
    ) throws(ServiceFailure) -> (MethodCall, RequestKey?) {
        if let params, params.kind == .array, params.count > 0 {
            throw ServiceFailure(
                .invalidInputData, "params are given by name, in an object", at: "params")
        }
        return try methods.call(method, params?.kind == .object ? params : nil)
    }
}
