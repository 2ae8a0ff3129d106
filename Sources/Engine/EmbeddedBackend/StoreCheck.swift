import BackendContract
import InMemoryEngine
import JSONText
import Objects
import Runtime

/// Finds every disagreement between a store's documents and the data derived from them, one
/// sentence each.
public enum StoreCheck {
    /// What the rows of a store are compared with, besides each other.
    enum Index {
        /// The same state in memory.
        case present(EngineState)
        /// An engine, which is built from the store as a start would build it.
        case built
        /// Nothing. That takes little memory.
        case none
    }

    /// Reads the whole store at one state without changing it. Another process may be serving the
    /// store.
    public static func run(path: String) throws(StoreFailure) -> CheckReport {
        try run(try FrozenStore(path: path), against: .built, until: nil)
    }

    /// Reads the whole store, as `run(path:)` does, but builds no index, which would take as much
    /// memory as a service does.
    ///
    /// - Parameter stop: ends the check early. The report is then incomplete, or there is none.
    public static func runWithoutIndex(
        path: String, until stop: StopSignal
    ) throws(StoreFailure) -> CheckReport {
        let store = try FrozenStore(path: path)
        stop.whenStopped { store.interrupt() }
        return try run(store, against: .none, until: stop)
    }

    /// - Parameter stop: ends the check early. The report is then incomplete.
    static func run(
        _ store: FrozenStore, against index: Index, until stop: StopSignal?
    ) throws(StoreFailure) -> CheckReport {
        try store.scan { scan in
            var report = CheckReport()
            report.buckets = scan.buckets.count
            report.problems = try scan.integrityProblems().map { "SQLite says: \($0)" }
            report.problems += try scan.schemaProblems()
            for bucket in scan.buckets {
                do throws(ServiceFailure) {
                    _ = try BucketName(bucket.text)
                } catch {
                    report.problems.append("bucket \(bucket.text): \(error.message)")
                }
            }
            report.problems += try scan.expiryProblems()
            report.problems += try scan.usageProblems()
            let engine: EngineState? =
                switch index {
                case .present(let engine): engine
                case .built: built(scan, &report)
                case .none: nil
                }
            report.problems += engine?.violations() ?? []
            var rows = RowCheck(engine: engine, lastChange: try scan.lastChange())
            try scan.forEachRow { bucket, row, points in
                report.objects += 1
                rows.check(row, in: bucket, points)
                return stop?.isStopped != true
            }
            report.points = rows.points
            report.problems += rows.problems + rows.countProblems()
            return report
        }
    }

    /// An engine as a start would build it. If none can be built, the reason is reported and the
    /// result is nil.
    private static func built(_ scan: StoreScan, _ report: inout CheckReport) -> EngineState? {
        let engine = Engine(
            limits: Limits(), secret: [0], source: NoDocuments(),
            clock: ServiceClock(milliseconds: { .min }))
        do {
            let lastChange = try scan.lastChange()
            try engine.load(
                buckets: scan.buckets, places: scan.places, fields: scan.fields,
                change: lastChange,
                scan.forEachObject)
        } catch {
            report.problems.append("no index can be built: \(error)")
            return nil
        }
        return engine.present()
    }

    private struct NoDocuments: DocumentSource {
        func document(
            creation: ChangeNumber
        ) throws(ServiceFailure) -> (change: ChangeNumber, text: [UInt8])? { nil }

        func forEachDocument(
            in bucket: BucketName, _ body: (ChangeNumber, [UInt8]) -> Bool
        ) throws(ServiceFailure) {}
    }
}
