import JSONText
import NIOCore

extension LineConnection {
    /// One JSON-RPC call.
    ///
    /// - Parameters:
    ///   - params: JSON text without line breaks.
    /// - Returns: the result's JSON text.
    /// - Throws: `ClientFailure`.
    public func call(_ method: String, _ params: [UInt8]) async throws -> [UInt8] {
        try Self.result(of: try await begin(method, params).value())
    }

    /// One JSON-RPC call without waiting; `result(of:)` reads its answer.
    public func begin(
        _ method: String, _ params: [UInt8], deadline: NIODeadline? = nil
    ) -> PendingAnswer {
        var writer = JSONWriter(reserving: params.count + 80)
        writer.raw("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":")
        writer.string(method)
        writer.key("params")
        writer.raw(params)
        writer.byte(UInt8(ascii: "}"))
        return begin(writer.bytes, deadline: deadline)
    }

    /// Logs in for all that follows on this connection.
    ///
    /// - Throws: `ClientFailure`.
    public func logIn(token: String) async throws {
        var params = JSONWriter()
        params.raw("{\"token\":")
        params.string(token)
        params.byte(UInt8(ascii: "}"))
        _ = try await call("auth.login", params.bytes)
    }

    /// The result inside an answer line, or the error inside it thrown.
    public static func result(of answer: [UInt8]) throws -> [UInt8] {
        do {
            return try JSONParser.reading(answer, result)
        } catch let error as JSONSyntaxError {
            throw ClientFailure.malformedAnswer(error.message)
        }
    }

    private static func result(in answer: JSONView) throws -> [UInt8] {
        if let result = answer["result"] { return Array(result.text) }
        guard let error = answer["error"], let code = error["code"]?.number?.exactInt,
            let message = error["message"]?.string
        else { throw ClientFailure.malformedAnswer("neither a result nor an error") }
        let data = error["data"]
        throw ClientFailure.refused(
            RemoteFailure(
                code: code, errorCode: data?["errorCode"]?.string ?? "\(code)", message: message,
                path: data?["path"]?.string,
                retryAfterMilliseconds: data?["retryAfterMillis"]?.number?.exactInt))
    }
}
