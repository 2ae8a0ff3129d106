import JSONText
import Objects
import ServiceDesk
import WebExchange

/// The operations of a service, for the sites of the web port.
struct WebService: WebOperations {
    /// The limits for requests.
    let limits: Limits
    private let desk: AsyncDesk
    private let access: WebAccess

    init(limits: Limits, desk: AsyncDesk, access: WebAccess) {
        (self.limits, self.desk, self.access) = (limits, desk, access)
    }

    /// Carries out a call.
    func reply<Reply>(
        to call: TypedCall<Reply>, from caller: Caller
    ) async throws(RPCFailure) -> Reply {
        try await desk.ask(call, from: caller)
    }

    /// Reads a body as JSON.
    func reading<Value: Sendable>(
        _ text: [UInt8], for caller: Caller, _ body: @escaping @Sendable (JSONView) -> Value
    ) async throws(JSONSyntaxError) -> Value {
        try await desk.reading(text, for: caller, body)
    }

    /// The caller of a request by its token or its session.
    func caller(of request: WebRequest) throws(WebFailure) -> Caller {
        try access.caller(of: request)
    }

    /// Refuses a caller who may not read a bucket.
    func permit(_ caller: Caller, reading bucket: BucketName?) throws(WebFailure) {
        try access.permit(caller, reading: bucket)
    }
}
