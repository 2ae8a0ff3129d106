import JSONText
import Objects
import Operations
import QueryLanguage
import Wire

/// The service as the paths of the web port use it: the methods of the protocol, and logins.
public protocol WebOperations: Sendable {
    /// The limits for requests.
    var limits: Limits { get }

    /// Calls a method as a request of the line protocol would, with permissions, limits, and nodes
    /// that hold the bucket instead of this one. `caller(of:)` has counted the HTTP request, however
    /// many methods it calls. Costly reads run on the read threads; a
    /// cancelled task ends its read, and so does a client that is gone.
    ///
    /// - Parameter params: a JSON object.
    /// - Returns: the JSON of the result.
    func call(
        _ method: MethodName, _ params: [UInt8], from caller: Caller
    ) async throws(RPCFailure) -> [UInt8]

    /// Calls `bucket.clusters` in the same way.
    ///
    /// - Parameter params: a JSON object.
    func clusters(
        _ params: [UInt8], from caller: Caller
    ) async throws(RPCFailure) -> ClusterAnswer

    /// The caller of a request by its token (`Authorization: Bearer`, or the password of `Basic`)
    /// or its session; one without a login if it has neither.
    ///
    /// - Throws: 401 for a token or a session that is not valid, 429 after too many failed logins.
    func caller(of request: WebRequest) throws(WebFailure) -> Caller

    /// Refuses a caller who may not read a bucket; called before anything else of a request is read.
    ///
    /// - Parameter bucket: nil: whether the caller may read anything at all.
    /// - Throws: 401, 403.
    func permit(_ caller: Caller, reading bucket: BucketName?) throws(WebFailure)
}

extension WebOperations {
    /// Leaves it to the methods.
    public func permit(_ caller: Caller, reading bucket: BucketName?) throws(WebFailure) {}

    /// Calls `bucket.clusters` and reads the JSON of the result.
    public func clusters(
        _ params: [UInt8], from caller: Caller
    ) async throws(RPCFailure) -> ClusterAnswer {
        let result = try await call(.clusters, params, from: caller)
        guard let answer = try? JSONParser.reading(result, { ClusterAnswer($0) }) else {
            throw .invalidRequest("the answer cannot be read")
        }
        return answer
    }

    /// Calls a method.
    ///
    /// - Parameter params: writes the params, with their braces.
    /// - Returns: the JSON of the result.
    public func ask(
        _ method: MethodName, from caller: Caller, _ params: (inout JSONWriter) -> Void
    ) async throws(WebFailure) -> [UInt8] {
        var writer = JSONWriter()
        params(&writer)
        do throws(RPCFailure) {
            return try await call(method, writer.bytes, from: caller)
        } catch {
            throw WebFailure(error)
        }
    }

    /// Reads the JSON that a method answered.
    public func reading<Result>(
        _ answer: [UInt8], _ body: (JSONView) -> Result
    ) throws(WebFailure) -> Result {
        do {
            return try JSONParser.reading(answer, body)
        } catch {
            throw WebFailure(
                .internalServerError, ServiceFailure.Reason.undefined.rawValue,
                "the service's own answer cannot be read")
        }
    }
}
