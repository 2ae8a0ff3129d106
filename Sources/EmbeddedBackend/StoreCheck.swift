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
            report.problems = try scan.integrityProblems().map { "SQLite says: \($0)" }
            report.buckets = scan.buckets.count
            let engine = InMemoryEngine(
                limits: Limits(), secret: [0], source: NoDocuments())
            let lastChange = try scan.lastChange()
            try engine.load(buckets: scan.buckets, change: lastChange, scan.forEachObject)
            report.problems += engine.violations()
            let parser = JSONParser()
            var rows: [BucketName: Int] = [:]
            try scan.forEachRow { bucket, row, points in
                report.objects += 1
                report.points += points.count
                rows[bucket, default: 0] += 1
                let object = "bucket \(bucket.text), object \(row.metadata.id.text)"
                report.problems +=
                    problems(row, bucket, points, lastChange, engine, parser).map {
                        "\(object): \($0)"
                    }
            }
            for (bucket, count) in rows where engine.count(of: bucket) != count {
                report.problems.append(
                    "bucket \(bucket.text): \(count) objects are stored, the index counts "
                        + "\(engine.count(of: bucket))")
            }
            return report
        }
    }

    private static func problems(
        _ row: StoredRow, _ bucket: BucketName, _ points: [FieldPoint], _ lastChange: ChangeNumber,
        _ engine: InMemoryEngine, _ parser: JSONParser
    ) -> [String] {
        var problems: [String] = []
        if row.creation > row.change || row.change > lastChange {
            problems.append(
                "created by change \(row.creation), last changed by \(row.change), but the "
                    + "store's last change is \(lastChange)")
        }
        if row.metadata.version < 1 || row.metadata.modified < row.metadata.created {
            problems.append(
                "version \(row.metadata.version), created \(row.metadata.created), modified "
                    + "\(row.metadata.modified)")
        }
        do {
            _ = try ObjectID(row.metadata.id.text, at: "_id")
            let view = try parser.parse(row.text)
            var limits = Limits()
            limits.objectBytes = .max
            let document = try WrittenDocument(view, at: "document", limits: limits)
            if document.text != row.text {
                problems.append("the document is not as the service would store it")
            }
            if Set(document.points) != Set(points) {
                problems.append(
                    "the document has \(document.points.count) points, the points column says "
                        + "\(points.count), or other ones")
            }
        } catch let failure as ServiceFailure {
            problems.append("\(failure.path ?? "document"): \(failure.message)")
        } catch {
            problems.append("the document is not JSON: \(error)")
        }
        if Set(engine.points(created: row.creation, in: bucket)) != Set(points) {
            problems.append("the index has other points than the row")
        }
        return problems
    }

    private struct NoDocuments: DocumentSource {
        func document(
            creation: ChangeNumber
        ) throws(ServiceFailure) -> (change: ChangeNumber, text: [UInt8])? { nil }
    }
}
