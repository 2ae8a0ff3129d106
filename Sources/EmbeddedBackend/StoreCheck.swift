import Backend
import InMemoryEngine
import JSONText
import ObjectStore
import Objects

/// Every disagreement between a store's documents and what is derived from them, in sentences.
public enum StoreCheck {
    public struct Report: Sendable {
        public var objects = 0
        public var points = 0
        public var buckets = 0
        /// Empty when all is well.
        public var problems: [String] = []
    }

    /// Reads the whole store at one state, without changing it; another process may be serving it.
    public static func run(path: String) throws(StoreFailure) -> Report {
        try ObjectStore.scan(path: path) { scan in
            var report = Report()
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
            var rows = RowCheck(engine: engine(scan, &report), lastChange: try scan.lastChange())
            try scan.forEachRow { bucket, row, points in
                report.objects += 1
                rows.check(row, in: bucket, points)
            }
            report.points = rows.points
            report.problems += rows.problems + rows.countProblems()
            return report
        }
    }

    /// An engine as a start would build it; nil, with the reason reported, when none can be built.
    private static func engine(_ scan: StoreScan, _ report: inout Report) -> InMemoryEngine? {
        let engine = InMemoryEngine(limits: Limits(), secret: [0], source: NoDocuments())
        do {
            let lastChange = try scan.lastChange()
            try engine.load(
                buckets: scan.buckets, fields: scan.fields, change: lastChange,
                scan.forEachObject)
        } catch {
            report.problems.append("no index can be built: \(error)")
            return nil
        }
        report.problems += engine.violations()
        return engine
    }

    private struct NoDocuments: DocumentSource {
        func document(
            creation: ChangeNumber
        ) throws(ServiceFailure) -> (change: ChangeNumber, text: [UInt8])? { nil }

        func forEachDocument(
            in bucket: BucketName, about objects: Int, _ body: (ChangeNumber, [UInt8]) -> Void
        ) throws(ServiceFailure) {}
    }
}
