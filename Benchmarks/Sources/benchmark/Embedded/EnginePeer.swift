import BackendContract
import EmbeddedBackend
import Foundation
import JSONText
import Logging
import Objects
import QueryLanguage
import SyntheticData
import Workloads

/// GeoBucket's engine called in process: everything but the sockets, the lines and the parsing.
final class EnginePeer: EmbeddedPeer {
    let name = "engine"
    let title = "GeoBucket's engine, in process"
    let version = "SQLiteBackend"
    private let path: String
    private var backend: SQLiteBackend?
    private let bucket = BucketName(trusted: GeoBucketServer.bucket)

    /// - Parameter path: a store that holds the objects; no other process has it open.
    init(store path: String) { self.path = path }

    deinit { try? backend?.close() }

    func load(_ dataset: Dataset) throws -> LoadFacts {
        var facts = LoadFacts()
        let before = residentBytes
        facts.startSeconds = try seconds {
            backend = try SQLiteBackend(
                path: path, limits: Limits(),
                logger: Logger(label: "engine") { _ in SwiftLogNoOpLogHandler() })
        }
        facts.memoryBytesPerObject = Double(residentBytes - before) / Double(dataset.count)
        facts.note = "growth of this process by opening the store"
        return facts
    }

    func answer(_ workload: Workload, _ queries: [WorkloadQuery]) throws -> ((Int) throws -> Int)? {
        guard let backend, workload != .q8 else { return nil }
        let forms = try queries.map { try Self.parse($0, workload) }
        let bucket = bucket
        var writer = JSONWriter(reserving: 1 << 20)
        return { number in
            writer.removeAll()
            let form = forms[number]
            let read = try backend.prepare(Self.request(form, workload, bucket))
            return try read.run(maximumBytes: .max, until: nil, into: &writer).count
        }
    }

    private static func request(
        _ query: Query, _ workload: Workload, _ bucket: BucketName
    ) -> ReadRequest {
        switch workload {
        case .q7: .count(query.clause, in: bucket)
        case .q10: .aggregation(query, in: bucket)
        default: .page(query, in: bucket)
        }
    }

    private static func parse(_ query: WorkloadQuery, _ workload: Workload) throws -> Query {
        let text = "{" + QueryDocument.members(query, for: workload) + "}"
        return try JSONParser.reading(Array(text.utf8)) { view in
            var members = try MemberReader(view)
            return try QueryParser(limits: Limits()).query(from: &members)
        }
    }

    private var residentBytes: Int { ProcessTable.memoryBytes(ofTree: getpid()) }
}
