import BackendContract
import JSONText
import Objects

/// Checks all derived data against the stored data.
final class CheckStore: Read {
    private let isOfCluster: Bool

    init(_ params: inout Params) throws(ServiceFailure) {
        isOfCluster = try params.bool("cluster")
    }

    var gathering: Gathering? { isOfCluster ? .each(.check) : nil }

    func prepare(for caller: Caller, on service: QueryService) -> Preparation { .costly }

    func run(_ context: ReadContext, into writer: inout JSONWriter) throws(ServiceFailure) {
        let report = try context.service.checkingAlone { () throws(ServiceFailure) in
            try context.backend.check(until: context.stop)
        }
        writer.raw("{\"objects\":")
        writer.integer(report.objects)
        writer.key("points")
        writer.integer(report.points)
        writer.key("buckets")
        writer.integer(report.buckets)
        writer.key("problemCount")
        writer.integer(report.problems.count)
        writer.raw(",\"problems\":[")
        writer.list(report.problems.prefix(Self.reportedProblems)) { $1.string($0) }
        writer.raw("]}")
    }

    /// The most problems that are listed individually.
    private static let reportedProblems = 1_000
}

/// Reads the next piece of a copy of the store.
final class BackUpStore: Read {
    private let continues: Bool

    init(_ params: inout Params) throws(ServiceFailure) { continues = try params.bool("continue") }

    func prepare(for caller: Caller, on service: QueryService) -> Preparation { .costly }

    func run(_ context: ReadContext, into writer: inout JSONWriter) throws(ServiceFailure) {
        let session = context.caller.export
        if !continues {
            session.end()
            session.begin(.backup(try context.backend.backup()), by: context.service.clock)
        }
        guard case .backup(let backup) = session.current() else {
            throw ServiceFailure(
                .invalidInputData, "no backup is under way on this connection", at: "continue")
        }
        let around = context.envelopeBytes + #"{"data":"","more":false}"#.utf8.count
        let room = max(context.service.limits.replyBytes - around, 4) / 4 * 3
        let piece = try backup.next(maximumBytes: room)
        if piece == nil { session.end() }
        writer.raw("{\"data\":")
        writer.string(Base64URL.encode(piece ?? []))
        writer.key("more")
        writer.bool(piece != nil)
        writer.byte(UInt8(ascii: "}"))
    }
}

/// Gives free pages of the store back, as many as a while allows.
final class CompactStore: Read {
    func prepare(for caller: Caller, on service: QueryService) -> Preparation { .costly }

    /// The time that one call takes, about.
    private static let time = Duration.milliseconds(250)

    func run(_ context: ReadContext, into writer: inout JSONWriter) throws(ServiceFailure) {
        let state = try context.backend.compact(for: Self.time, until: context.stop)
        writer.raw("{\"freePages\":")
        writer.integer(state.freePages)
        writer.key("storeBytes")
        writer.integer(state.storeBytes)
        writer.key("more")
        writer.bool(state.freePages > 0)
        writer.byte(UInt8(ascii: "}"))
    }
}
