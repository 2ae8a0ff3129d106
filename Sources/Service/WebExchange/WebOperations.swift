import JSONText
import Objects
import ServiceDesk
import Wire

/// The service as the paths of the web port use it: calls as values, and logins.
public protocol WebOperations: Sendable {
    /// The limits for requests.
    var limits: Limits { get }

    /// Carries out a call with permissions and limits, on the node that holds the bucket. `caller(of:)`
    /// has counted the HTTP request, however many calls it makes. A cancelled task ends its read, and
    /// so does a client that is gone.
    func reply<Reply>(
        to call: TypedCall<Reply>, from caller: Caller
    ) async throws(RPCFailure) -> Reply

    /// Reads a body as JSON, on a thread where that may take its time if the text is long.
    func reading<Value: Sendable>(
        _ text: [UInt8], for caller: Caller, _ body: @escaping @Sendable (JSONView) -> Value
    ) async throws(JSONSyntaxError) -> Value

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
    /// Leaves it to the calls.
    public func permit(_ caller: Caller, reading bucket: BucketName?) throws(WebFailure) {}

    /// Reads it on the thread of the call.
    public func reading<Value: Sendable>(
        _ text: [UInt8], for caller: Caller, _ body: @escaping @Sendable (JSONView) -> Value
    ) async throws(JSONSyntaxError) -> Value {
        let parser = JSONParser()
        defer { withExtendedLifetime(parser) {} }
        return body(try parser.parse(text))
    }

    /// Carries out a call.
    public func ask<Reply>(
        _ call: TypedCall<Reply>, from caller: Caller
    ) async throws(WebFailure) -> Reply {
        do throws(RPCFailure) {
            return try await reply(to: call, from: caller)
        } catch {
            throw WebFailure(error)
        }
    }

    /// Reads objects that the service has written.
    public func reading<Result>(
        own text: [UInt8], _ body: (JSONView) -> Result
    ) throws(WebFailure) -> Result {
        do {
            return try JSONParser.reading(text, body)
        } catch {
            throw WebFailure(
                .internalServerError, ServiceFailure.Reason.undefined.rawValue,
                "the service's own answer cannot be read")
        }
    }
}
