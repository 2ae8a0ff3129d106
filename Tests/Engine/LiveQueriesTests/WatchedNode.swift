import BackendContract
import Dispatch
import LiveQueries
import Objects
import Runtime
import Synchronization
import TestSupport

@testable import PostgresBackend

/// A node of a cluster with a hub.
final class WatchedNode {
    let backend: PostgresBackend
    let hub: WatchHub
    private static let bucket = BucketName(trusted: "couriers")

    /// - Parameters:
    ///   - name: names its cache.
    ///   - path: stands for the tables, and is where the caches are.
    init(_ name: String, _ path: String, reads: PostgresBackend.Reads = .latest) throws {
        let opening = BackendKind.Opening(path: path)
        var configuration = PostgresBackend.Configuration(
            address: try NodePair.address(of: path), cache: "\(path).\(name)", reads: reads)
        configuration.tuning = opening.tuning
        backend = try PostgresBackend(
            configuration, limits: opening.limits, logger: opening.logger)
        hub = WatchHub(backend: backend, limits: opening.limits, logger: opening.logger)
    }

    func close() throws {
        hub.stop()
        try backend.close()
    }

    func put(_ id: String) throws {
        let object = PutObject(
            id: ObjectID(trusted: id),
            document: WrittenDocument(text: Array("{}".utf8), points: []))
        try submit(.put(bucket: Self.bucket, object: object, condition: .none))
    }

    func delete(_ id: String) throws {
        try submit(.delete(bucket: Self.bucket, id: ObjectID(trusted: id), ifVersion: nil))
    }

    /// Deletes everything.
    func deleteAll() throws { try submit(.deleteWhere(bucket: Self.bucket, clause: .all)) }

    private func submit(_ write: Write) throws {
        let done = DispatchSemaphore(value: 0)
        let failure = Mutex<ServiceFailure?>(nil)
        backend.submit(write) { result in
            if case .failure(let reason) = result { failure.withLock { $0 = reason } }
            done.signal()
        }
        done.wait()
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    /// Watches everything, perhaps from where a client was, until it is present.
    func watch(after former: WatchedState? = nil) throws -> (resumed: Bool?, state: WatchedState) {
        let client = WatchClient(hub)
        defer { client.session.close() }
        let resume = former?.resume.map { #"{"resume":"\#($0)"}"# } ?? "{}"
        let start = try client.start(Self.bucket, resume, after: former)
        _ = try client.settle(start.name)
        return (start.resumed, client.states[start.name]!)
    }
}

/// The tables that a path stands for, as somebody with SQL sees them.
struct SharedTables {
    private static let names = [
        "head", "bucket", "geo_field", "object", "tombstone", "deletion", "batch", "request",
    ]
    private let connection: PostgresConnection

    init(_ path: String) throws {
        let (address, clock) = (try NodePair.address(of: path), ServiceClock())
        connection = try PostgresConnection(address, clock: clock)
        try ClusterSchema.selectSchema(
            connection, address.schema, until: clock.deadline(after: hangTime))
    }

    @discardableResult
    func run(_ statements: [String]) throws -> [PostgresRows] {
        try connection.run(
            statements.map { PostgresStatement($0) },
            until: connection.clock.deadline(after: hangTime))
    }

    /// Makes a backup.
    func save() throws {
        try run(Self.names.map { "CREATE TABLE saved_\($0) AS SELECT * FROM \($0)" })
    }

    /// Puts the backup back: what came after it is lost.
    func restore() throws {
        try run(
            ["BEGIN"]
                + Self.names.flatMap {
                    [
                        "DELETE FROM \($0)",
                        "INSERT INTO \($0) OVERRIDING SYSTEM VALUE SELECT * FROM saved_\($0)",
                    ]
                } + ["COMMIT"])
    }

    /// Makes every removal of rows that lists have left fail.
    func keepListedRows() throws {
        try run(["CREATE RULE kept AS ON DELETE TO deletion DO INSTEAD NOTHING"])
    }

    func count(_ table: String) throws -> Int64 {
        try run(["SELECT count(*) FROM \(table)"])[0].int(0, 0)
    }

    func epoch() throws -> String { try run(["SELECT epoch::text FROM head"])[0].text(0, 0) }
}
