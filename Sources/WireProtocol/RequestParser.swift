import JSONText
import Objects
import QueryLanguage

/// One request of a line, its params read.
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
    /// As `UnreadRequest` has it.
    public let isLarge: Bool

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
        key: RequestKey? = nil, isLarge: Bool = false
    ) {
        self.id = id
        self.method = method
        self.call = call
        self.key = key
        self.isLarge = isLarge
    }
}

/// What a line holds.
public enum Message {
    case single(UnreadRequest)
    /// A batch: where each of its requests stands in the line, at least one.
    case batch([Range<Int>])
}

/// Lines to requests. A line that holds none becomes a request that has failed already.
///
///     switch parser.parse(line) {
///     case .single(let unread): … parser.read(unread)      // once it is known who may
///     case .batch(let ranges): … parser.parse(element: line[ranges[0]])
///     }
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

    /// A line's requests, their params unread.
    public func parse(_ line: UnsafeBufferPointer<UInt8>) -> Message {
        let view: JSONView
        do {
            view = try parser.parse(line)
        } catch {
            return .single(UnreadRequest(failed: .invalidJSON(error)))
        }
        guard view.kind == .array else { return .single(Self.request(view)) }
        guard (1...limits.batchRequests).contains(view.count) else {
            return .single(
                UnreadRequest(
                    failed:
                        .invalidRequest("a batch has 1 to \(limits.batchRequests) requests")))
        }
        return .batch(view.elements.map(\.range))
    }

    /// A request out of a batch, its params unread.
    public func parse(element: UnsafeBufferPointer<UInt8>) -> UnreadRequest {
        do {
            return Self.request(try parser.parse(element))
        } catch {
            return UnreadRequest(failed: .invalidJSON(error))
        }
    }

    /// Reads the params of the request that was parsed last.
    public func read(_ unread: UnreadRequest) -> Request {
        let method: MethodName
        switch unread.method {
        case .failure(let failure): return unread.refused(failure)
        case .success(let found): method = found
        }
        do throws(ServiceFailure) {
            let (call, key) = try call(method, unread.params)
            return Request(
                id: unread.id, method: method, call: .success(call), key: key,
                isLarge: unread.isLarge)
        } catch {
            return unread.refused(RPCFailure(error))
        }
    }

    private static func request(_ view: JSONView) -> UnreadRequest {
        guard view.kind == .object else {
            return UnreadRequest(failed: .invalidRequest("a request is a JSON object"))
        }
        let id = view["id"]
        if let kind = id?.kind, kind == .bool || kind == .array || kind == .object {
            return UnreadRequest(
                failed: .invalidRequest("\"id\" has to be a string, a number or null"))
        }
        let idText = id.map { Array($0.text) }
        guard view["jsonrpc"]?.utf8?.elementsEqualBytes("2.0") == true else {
            return UnreadRequest(
                failed: .invalidRequest("\"jsonrpc\" has to be \"2.0\""), id: idText)
        }
        guard let name = view["method"]?.utf8 else {
            return UnreadRequest(
                failed: .invalidRequest("\"method\" has to be a string"), id: idText)
        }
        let params = view["params"]
        if let params, params.kind != .object, params.kind != .array {
            return UnreadRequest(
                failed: .invalidRequest("\"params\" has to be an object"), id: idText)
        }
        guard let method = MethodName(utf8: name) else {
            // The name is told shortened.
            let name = String(decoding: name.prefix(1_000), as: UTF8.self)
            return UnreadRequest(id: idText, method: .failure(.methodNotFound(name)))
        }
        return UnreadRequest(id: idText, method: .success(method), params: params)
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

extension RPCFailure {
    fileprivate static func invalidJSON(_ error: JSONSyntaxError) -> RPCFailure {
        RPCFailure(-32700, "INVALID_JSON", error.message, offset: error.offset)
    }
}
