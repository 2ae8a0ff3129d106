import BackendContract
import JSONText
import Objects
import PersistentStructures
import QueryLanguage

/// Finds out which fields a bucket's objects have, and of which types: of all objects, or of a sample
/// spread over the order of creation.
final class PreparedFields: PreparedRead {
    private let planned: PlannedQuery

    /// The most objects of which all are looked at, and the size of the sample of more.
    private static let (all, sample) = (100_000, 10_000)
    init(of bucket: BucketName, on engine: Engine) {
        planned = PlannedQuery(Query(), in: bucket, on: engine)
    }

    /// A single object may have thousands of fields.
    var isCostly: Bool { planned.state.count > 0 }

    func run(
        maximumBytes: Int, until stop: StopSignal?, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> ReadEnd {
        let execution = planned.execution(within: planned.engine.bounds(until: stop))
        var slots: [Slot] = []
        try execution.forEachMatch { slots.append($0) }
        let objects = slots.count
        if objects > Self.all {
            slots = (0..<Self.sample).map { slots[$0 * objects / Self.sample] }
        }
        let survey = try execution.survey(of: slots)
        writer.raw("{\"objects\":")
        writer.integer(objects)
        writer.key("sampled")
        writer.integer(slots.count)
        writer.key("fields")
        survey.write(to: &writer, maximumBytes: maximumBytes - 128)
        if survey.omitted > 0 {
            writer.key("omitted")
            writer.integer(survey.omitted)
        }
        writer.byte(UInt8(ascii: "}"))
        return ReadEnd(count: objects)
    }
}

extension Execution {
    /// The fields of some objects.
    func survey(of slots: [Slot]) throws(ServiceFailure) -> FieldSurvey {
        var survey = FieldSurvey()
        var failure: ServiceFailure?
        var slots = slots
        slots.withUnsafeMutableBufferPointer { slots in
            do throws(ServiceFailure) {
                _ = try forEachView(of: slots) { _, view in
                    survey.add(view)
                    return true
                }
            } catch { failure = error }
        }
        if let failure { throw failure }
        return survey
    }
}
