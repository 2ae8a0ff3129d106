import BackendContract
import JSONText
import Objects
import QueryLanguage

/// The caller, the service and the limits of a read.
public struct ReadContext {
    let service: QueryService
    let caller: Caller
    let preparation: Preparation
    /// Bytes of the envelope around the result; they count towards the limit of a reply.
    let envelopeBytes: Int
    /// Set when nobody needs the answer any more.
    let stop: StopSignal?
    /// Is told how many objects were found; nil if nobody asks.
    private let found: FoundCount?

    /// Binds a read to its caller and service.
    ///
    /// - Parameters:
    ///   - preparation: the result of the read's own `prepare`.
    ///   - envelopeBytes: bytes of the envelope around the result.
    ///   - stop: cancels the read, which then fails; nil for a read that cannot be cancelled.
    ///   - found: is told how many objects it finds.
    public init(
        service: QueryService, caller: Caller, preparation: Preparation, envelopeBytes: Int,
        stop: StopSignal?, found: FoundCount? = nil
    ) {
        self.service = service
        self.caller = caller
        self.preparation = preparation
        self.envelopeBytes = envelopeBytes
        self.stop = stop
        self.found = found
    }

    var backend: any Backend { service.backend }

    /// Runs the plan and appends its result.
    @discardableResult
    func find(
        maximumBytes: Int = .max, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> ReadEnd {
        guard case .planned(let read) = preparation else {
            preconditionFailure("nothing has been planned")
        }
        let end = try read.run(maximumBytes: maximumBytes, until: stop, into: &writer)
        found?.note(end.count)
        return end
    }

    /// Runs the plan and appends its result, which is at most as long as a reply may be.
    func findWithinReply(into writer: inout JSONWriter) throws(ServiceFailure) {
        try find(maximumBytes: service.limits.replyBytes - envelopeBytes, into: &writer)
    }

    /// Runs the plan of a query.
    func found(isAggregation: Bool) throws(ServiceFailure) -> ObjectPage {
        var writer = JSONWriter()
        if !isAggregation { writer.byte(UInt8(ascii: "[")) }
        let end = try find(
            maximumBytes: service.limits.replyBytes - envelopeBytes, into: &writer)
        if !isAggregation { writer.byte(UInt8(ascii: "]")) }
        return ObjectPage(
            objects: isAggregation ? Array("[]".utf8) : writer.bytes,
            aggregations: isAggregation ? writer.bytes : nil,
            nextPaginationKey: end.nextPaginationKey)
    }

    /// Runs the plan of a read of clusters.
    func clusters() throws(ServiceFailure) -> ClusterAnswer {
        guard case .planned(let read as any PreparedClusterRead) = preparation else {
            preconditionFailure("no clusters have been planned")
        }
        return try read.clusters(
            maximumBytes: service.limits.replyBytes - envelopeBytes, until: stop)
    }

    /// Appends a page, as many objects as a reply can contain, and the key of the next page.
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
        writeHints(after: end, from: start, to: &writer)
        writer.byte(UInt8(ascii: "}"))
    }

    /// Appends the member `hints` if nothing was found and the read was asked why.
    ///
    /// - Parameter start: where the result begins.
    func writeHints(after end: ReadEnd, from start: Int, to writer: inout JSONWriter) {
        guard end.count == 0, case .planned(let read as HintedRead) = preparation else { return }
        let room = service.limits.replyBytes - envelopeBytes - (writer.count - start) - 1
        read.writeHints(maximumBytes: room, until: stop, to: &writer)
    }
}
