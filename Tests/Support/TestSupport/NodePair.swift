import BackendContract
import Dispatch
import JSONText
import Objects
import PostgresBackend
import Synchronization

/// Two nodes of one cluster as one back end: writes go to the first, reads to the second, which has
/// to see what the first has answered.
public final class NodePair: TestedBackend {
    public let writing: PostgresBackend
    public let reading: PostgresBackend

    /// - Parameter opening: the path stands for a schema of the test process's server.
    public convenience init(_ opening: BackendKind.Opening) throws {
        self.init(
            writing: try Self.node("writing", opening), reading: try Self.node("reading", opening))
    }

    public init(writing: PostgresBackend, reading: PostgresBackend) {
        self.writing = writing
        self.reading = reading
    }

    /// The same nodes in exchanged roles.
    public var reversed: NodePair { NodePair(writing: reading, reading: writing) }

    /// A node of the cluster that a path stands for.
    ///
    /// - Parameter name: the end of its cache's name.
    public static func node(
        _ name: String, _ opening: BackendKind.Opening
    ) throws -> PostgresBackend {
        var configuration = PostgresBackend.Configuration(
            address: try address(of: opening.path), cache: "\(opening.path).\(name)")
        configuration.tuning = opening.tuning
        return try PostgresBackend(
            configuration, limits: opening.limits, logger: opening.logger, clock: opening.clock)
    }

    /// Where the tables are that a path stands for.
    public static func address(of path: String) throws -> PostgresAddress {
        try PostgresAddress(url: PostgresServer.required().url, schema: schema(of: path))
    }

    private static func schema(of path: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in path.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return "test_\(String(hash, radix: 16))"
    }

    public func settle() {
        writing.settle()
        wait()
        reading.settle()
    }

    public func close() throws {
        try writing.close()
        try reading.close()
    }

    /// Returns when the reading node has what the writing node has answered.
    private func wait() {
        let done = DispatchSemaphore(value: 0)
        if !reading.mayRead(1, atLeast: nil, { _ in done.signal() }) { done.wait() }
    }

    public var storeName: String { reading.storeName }
    public var readsAtOnce: Bool { reading.readsAtOnce }
    /// Nil: the rules of the protocol are those of one service, whose answers give no change.
    public var answeredChange: ChangeNumber? { nil }
    public var isReady: Bool { reading.isReady }

    public var readStates: ReadStates? { reading.readStates }

    public func mayRead(
        _ count: Int, atLeast change: ChangeNumber?,
        _ ready: @escaping @Sendable (ServiceFailure?) -> Void
    ) -> Bool { reading.mayRead(count, atLeast: change, ready) }

    public func awaitLatest(_ ready: @escaping @Sendable (ServiceFailure?) -> Void) {
        reading.awaitLatest(ready)
    }

    public func prepare(
        _ request: consuming ReadRequest
    ) throws(ServiceFailure) -> any PreparedRead {
        wait()
        return try reading.prepare(request)
    }

    public func get(
        _ id: ObjectID, in bucket: BucketName, into writer: inout JSONWriter
    ) throws(ServiceFailure) {
        wait()
        try reading.get(id, in: bucket, into: &writer)
    }

    public func export(_ bucket: BucketName) throws(ServiceFailure) -> any BucketExport {
        wait()
        return try reading.export(bucket)
    }

    public func submit(
        _ write: Write, key: RequestKey?, by owner: String,
        completion: @escaping @Sendable (Result<WriteAnswer, ServiceFailure>) -> Void
    ) { writing.submit(write, key: key, by: owner, completion: completion) }

    public func observe(_ observer: any StateObserver) { reading.observe(observer) }

    public func endObservation() { reading.endObservation() }

    public func statistics() -> BackendStatistics {
        wait()
        return reading.statistics()
    }

    public func check(until stop: StopSignal?) throws(ServiceFailure) -> CheckReport {
        var report = try writing.check(until: stop)
        report.problems += try reading.check(until: stop).problems
        return report
    }

    public func backup() throws(ServiceFailure) -> any StoreBackup { try writing.backup() }
}
