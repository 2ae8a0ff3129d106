import Backend
import JSONText
import Objects

/// For whom a read runs, on what, and within which bounds.
public struct ReadContext {
    let service: Service
    let caller: Caller
    let preparation: Preparation
    /// What the wire puts around the result; with it the answer stays within the limit of a reply.
    let envelopeBytes: Int
    /// Tells that nobody wants the answer any more.
    let stop: StopSignal?

    public init(
        service: Service, caller: Caller, preparation: Preparation, envelopeBytes: Int,
        stop: StopSignal?
    ) {
        self.service = service
        self.caller = caller
        self.preparation = preparation
        self.envelopeBytes = envelopeBytes
        self.stop = stop
    }

    var backend: any Backend { service.backend }

    /// Appends what was planned.
    @discardableResult
    func find(
        maximumBytes: Int = .max, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> ReadEnd {
        guard case .planned(let read) = preparation else {
            preconditionFailure("nothing has been planned")
        }
        return try read.run(maximumBytes: maximumBytes, until: stop, into: &writer)
    }

    /// Appends the list of a page, as much as a reply holds, and how it goes on.
    ///
    /// - Parameter start: where the result begins.
    func writePage(from start: Int, to writer: inout JSONWriter) throws(ServiceFailure) {
        writer.byte(UInt8(ascii: "["))
        let around = envelopeBytes + writer.count - start + "]}".utf8.count
        let end = try find(
            maximumBytes: service.limits.replyBytes - around, into: &writer)
        writer.byte(UInt8(ascii: "]"))
        if let key = end.nextPaginationKey {
            writer.key("nextPaginationKey")
            writer.string(key)
        }
        writer.byte(UInt8(ascii: "}"))
    }
}
