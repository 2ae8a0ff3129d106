import NIOCore
import PlainJSON
import Wire

extension LineConnection {
    /// One JSON-RPC call.
    ///
    /// - Parameters:
    ///   - params: JSON text.
    /// - Returns: the result's JSON text.
    /// - Throws: `ClientFailure`.
    public func call(_ method: String, _ params: [UInt8]) async throws -> [UInt8] {
        try await begin(method, params).result()
    }

    /// Makes one JSON-RPC call without waiting; `result()` of the answer waits for its result.
    public func begin(
        _ method: String, _ params: [UInt8], deadline: NIODeadline? = nil
    ) -> PendingAnswer {
        begin(method, params, deadline: deadline, onResult: nil)
    }

    /// - Parameter onResult: runs on the event loop with the result, also if nobody waits for it any
    ///   more, before anything behind it is read; not for an error.
    func begin(
        _ method: String, _ params: [UInt8], deadline: NIODeadline?,
        onResult: (@Sendable ([UInt8]) -> Void)?
    ) -> PendingAnswer {
        var writer = JSONWriter(reserving: params.count + 80)
        let id = newID()
        RequestWriter.request(id: id, method, params, to: &writer)
        guard let onResult else { return begin(writer.bytes, id: id, deadline: deadline) }
        return begin(writer.bytes, id: id, deadline: deadline) { answer in
            if let result = try? Self.result(of: answer, id: id) { onResult(result) }
        }
    }

    /// Logs in for all later requests of this connection.
    ///
    /// - Throws: `ClientFailure`.
    public func logIn(token: String) async throws {
        var params = JSONWriter()
        params.raw("{\"token\":")
        params.string(token)
        params.byte(UInt8(ascii: "}"))
        _ = try await call("\(MethodName.login.text)", params.bytes)
    }

    /// The result inside an answer line, or the error inside it thrown.
    public static func result(of answer: [UInt8]) throws -> [UInt8] {
        try result(of: answer, id: nil)
    }

    /// - Parameter id: the id that the answer must have; nil means any.
    static func result(of answer: [UInt8], id: Int?) throws -> [UInt8] {
        do {
            return try PlainJSONParser.reading(answer) { answer in
                if let id { try check(answer, id) }
                return try result(in: answer)
            }
        } catch let error as JSONSyntaxError {
            throw ClientFailure.malformedAnswer(error.message)
        }
    }

    /// An answer has the id of its request; an error about an unreadable request has null.
    private static func check(_ answer: JSONView, _ id: Int) throws {
        let isUnread = answer["id"]?.kind == .null && answer["error"] != nil
        guard isUnread || answer["id"]?.number?.exactInt == id else {
            throw ClientFailure.malformedAnswer("it belongs to another request")
        }
    }

    private static func result(in answer: JSONView) throws -> [UInt8] {
        if let result = answer["result"] { return Array(result.text) }
        guard let failure = answer["error"].flatMap(RPCFailure.init) else {
            throw ClientFailure.malformedAnswer("neither a result nor an error")
        }
        throw ClientFailure.refused(RemoteFailure(failure))
    }
}

extension RemoteFailure {
    init(_ failure: RPCFailure) {
        self.init(
            code: failure.code, errorCode: failure.errorCode, message: failure.message,
            path: failure.path, retryAfterMilliseconds: failure.retryAfterMilliseconds)
    }
}
