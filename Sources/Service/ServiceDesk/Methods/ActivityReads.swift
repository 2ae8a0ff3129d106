import JSONText
import Objects

/// Lists the costly reads that run or wait for a thread.
final class ListActivity: Read {
    let seesObjects = false

    func run(_ context: ReadContext, into writer: inout JSONWriter) {
        writer.raw("{\"requests\":")
        let around = context.envelopeBytes + #"{"requests":}"#.utf8.count
        context.service.activity.write(
            now: context.service.clock.nanoseconds(),
            maximumBytes: context.service.limits.replyBytes - around, to: &writer)
        writer.byte(UInt8(ascii: "}"))
    }
}

/// Ends one of them.
final class CancelRead: Read {
    let seesObjects = false
    private let id: Int

    init(_ params: inout Params) throws(ServiceFailure) { id = try params.activityID() }

    func run(_ context: ReadContext, into writer: inout JSONWriter) {
        writer.raw("{\"cancelled\":")
        writer.bool(context.service.activity.cancel(id))
        writer.byte(UInt8(ascii: "}"))
    }
}
