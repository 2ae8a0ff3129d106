import Backend

/// For whom a read runs, on what, and within which bounds.
public struct ReadContext {
    let service: Service
    let caller: Caller
    /// What the wire puts around the result; with it the answer stays within the limit of a reply.
    let envelopeBytes: Int
    let effort: Effort

    public init(service: Service, caller: Caller, envelopeBytes: Int, effort: Effort) {
        self.service = service
        self.caller = caller
        self.envelopeBytes = envelopeBytes
        self.effort = effort
    }

    var backend: any Backend { service.backend }
}
