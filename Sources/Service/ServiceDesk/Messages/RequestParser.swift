import JSONText
import Objects

/// The content of a line.
public enum Message {
    /// A request outside a batch, or what is wrong with the line.
    case single(UnreadRequest)
    /// A batch of at least one request: the range of each in the line.
    case batch([Range<Int>])
}

/// Parses lines into requests and leaves their params unread. A line without a valid request
/// becomes a failed request.
///
///     switch parser.parse(line) {
///     case .single(let unread): …
///     case .batch(let ranges): … parser.parse(element: line[ranges[0]])
///     }
///
/// Use it on one thread at a time. A class because it is passed on for every line.
public final class RequestParser {
    private let parser: JSONParser
    private let limits: Limits

    /// A parser that accepts batches of up to the limits' `batchRequests`.
    ///
    /// - Parameter parser: what it parses with; requests are valid until that parses again.
    public init(limits: Limits, parser: JSONParser = JSONParser()) {
        self.parser = parser
        self.limits = limits
    }

    /// Parses a line.
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

    /// Parses a request of a batch.
    public func parse(element: UnsafeBufferPointer<UInt8>) -> UnreadRequest {
        do {
            return Self.request(try parser.parse(element))
        } catch {
            return UnreadRequest(failed: .invalidJSON(error))
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
        let idText = id.map { String(decoding: $0.text, as: UTF8.self) }
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
            // The message quotes at most 1,000 bytes of the name.
            let name = String(decoding: name.prefix(1_000), as: UTF8.self)
            return UnreadRequest(id: idText, method: .failure(.methodNotFound(name)))
        }
        return UnreadRequest(id: idText, method: .success(method), params: params)
    }
}

extension RPCFailure {
    fileprivate static func invalidJSON(_ error: JSONSyntaxError) -> RPCFailure {
        RPCFailure(-32700, "INVALID_JSON", error.message, offset: error.offset)
    }
}
