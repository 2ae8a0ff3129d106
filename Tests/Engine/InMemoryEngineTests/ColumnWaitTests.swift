import BackendContract
import Objects
import QueryLanguage
import TestSupport
import Testing

@testable import InMemoryEngine

/// Reads that wait for columns, and in which order columns are built.
@Suite(.timeLimit(.minutes(20))) struct ColumnWaitTests {
    private static let clause = Clause.eq(kind, .number(.integer(7)))

    /// Documents that take longer to read than an event loop may take.
    private static let many = 3_000

    private static func table() -> EngineTable {
        EngineTable(tune: { tuning in
            tuning.documentsForWaiting = 1
            tuning.documentsAtOnce = 1
        })
    }

    private static func filled() -> EngineTable {
        var random = SplitMix64(seed: 1)
        let table = table()
        table.create(in: shops, many, &random)
        return table
    }

    @Test func `all that wait for a column are told when it is there, and hold no state meanwhile`()
        async throws
    {
        let table = Self.filled()
        let gate = table.hold(shops)
        let told = Shared<[ServiceFailure?]>([])
        weak var waiting: (any PreparedRead)?
        for _ in 0..<50 {
            let read = try table.prepareCount(Self.clause)
            waiting = read
            let mayRun = read.mayRun(since: table.nanoseconds, after: 0, until: StopSignal()) {
                failure in
                told.withLock { $0.append(failure) }
            }
            #expect(!mayRun)
        }
        #expect(waiting == nil)
        table.engine.installBackgroundWork()
        #expect(table.engine.columnRequests.waitCount == 50)
        #expect(told.withLock { $0.isEmpty })
        gate.signal()
        table.settle()
        #expect(try await waited { told.withLock { $0.count } == 50 })
        #expect(told.withLock { $0.allSatisfy { $0 == nil } })
        #expect(table.engine.columnRequests.waitCount == 0)
        #expect(table.documents.state.withLock { $0.passes } == [shops])
        let read = try table.prepareCount(Self.clause)
        #expect(read.mayRun(since: table.nanoseconds, after: 0, until: StopSignal()) { _ in })
    }

    @Test func `a wait ends with its client, with its bucket, and when its time is over`()
        async throws
    {
        let table = Self.filled()
        let gate = table.hold(shops)
        func wait(_ age: Int64, _ stop: StopSignal = StopSignal()) throws -> Shared<[String]> {
            let told = Shared<[String]>([])
            let mayRun = try table.prepareCount(Self.clause)
                .mayRun(since: table.nanoseconds - age, after: 0, until: stop) { failure in
                    told.withLock { $0.append(failure?.reason.rawValue ?? "ready") }
                }
            #expect(!mayRun)
            return told
        }
        let (stop, minute) = (StopSignal(), Int64(60_000_000_000))
        let stopped = try wait(0, stop)
        table.engine.installBackgroundWork()
        let late = try wait(minute - 20_000_000)
        let tooLate = try wait(2 * minute)
        let patient = try wait(0)
        stop.stop()
        #expect(try await waited { stopped.withLock { $0 } == ["ready"] })
        #expect(try await waited { tooLate.withLock { $0 } == ["QUERY_TIMEOUT"] })
        #expect(
            try await waited {
                table.engine.endOverdueWaits()
                return late.withLock { $0 } == ["QUERY_TIMEOUT"]
            })
        #expect(table.engine.columnRequests.waitCount == 1)
        table.deleteBucket()
        #expect(try await waited { patient.withLock { $0 } == ["ready"] })
        #expect(table.engine.columnRequests.waitCount == 0)
        gate.signal()
        table.settle()
        for told in [stopped, late, tooLate, patient] { #expect(told.withLock { $0.count } == 1) }
    }

    @Test func `a column that cannot be built lets those who wait read the documents`() async throws
    {
        let table = Self.filled()
        table.documents.state.withLock { $0.isFailing = true }
        let told = Shared(0)
        func mayRun() throws -> Bool {
            try table.prepareCount(Self.clause).mayRun(
                since: table.nanoseconds, after: 0, until: StopSignal()
            ) {
                #expect($0 == nil)
                told.withLock { $0 += 1 }
            }
        }
        #expect(try !mayRun())
        table.settle()
        #expect(try await waited { told.withLock { $0 } == 1 })
        #expect(try mayRun())
    }

    @Test func `a read does not wait again for a column that was there and is gone`() throws {
        let table = Self.filled()
        func mayRun(after waits: Int) throws -> Bool {
            try table.prepareCount(Self.clause)
                .mayRun(since: table.nanoseconds, after: waits, until: StopSignal()) { _ in }
        }
        #expect(try !mayRun(after: 0))
        // As long as it is on its way.
        #expect(try !mayRun(after: 1))
        table.settle()
        let next = table.engine.nextSnapshot()
        next.evictColumns(table.engine.columnRequests, over: 0)
        table.engine.publish(next, upTo: table.change)
        #expect(table.columns == [])
        #expect(try mayRun(after: 1))
        #expect(table.engine.isSettled)
    }

    @Test func `columns of one bucket that are wanted before its pass begins are built in one`()
        throws
    {
        var random = SplitMix64(seed: 2)
        let table = Self.filled()
        let gate = table.hold("busy")
        table.create(in: "busy", 300, &random)
        try table.want(kind, in: "busy")
        table.engine.installBackgroundWork()
        // Larger than the other one, so it waits.
        try table.want(kind, in: shops)
        try table.want(name, in: shops)
        gate.signal()
        table.settle()
        #expect(Set(table.columns) == [kind, name])
        #expect(table.documents.state.withLock { $0.passes.count(where: { $0 == shops }) } == 1)
    }

    @Test func `a column that is wanted when a pass has just begun is built in the same pass`()
        throws
    {
        let table = Self.filled()
        let gate = table.hold(shops)
        try table.want(kind, in: shops)
        table.engine.installBackgroundWork()
        try table.want(name, in: shops)
        // One for the pass that ends, one for that which takes its place.
        gate.signal()
        gate.signal()
        table.settle()
        #expect(Set(table.columns) == [kind, name])
        #expect(table.documents.state.withLock { $0.passedOver } == Self.many + 1)
        try table.check("both at once")
    }

    @Test func `a small bucket's columns do not wait for those of a large one`() async throws {
        var random = SplitMix64(seed: 3)
        let table = Self.table()
        let gate = table.hold("busy")
        table.create(in: "busy", Self.many, &random)
        table.create(in: shops, Self.many / 5, &random)
        try table.want(kind, in: "busy")
        table.engine.installBackgroundWork()
        try table.want(kind, in: shops)
        #expect(
            try await waited {
                table.engine.installBackgroundWork()
                return table.columns == [kind]
            })
        gate.signal()
        table.settle()
        try table.check("beside")
    }

    @Test func `what was used last before a restart is built first, and after what queries want`()
        throws
    {
        var random = SplitMix64(seed: 4)
        let table = Self.table()
        let buckets: [BucketName] = ["b1", "b2", "b3", "b4", "b5"]
        for bucket in buckets { table.create(in: bucket, 300, &random) }
        // Too large for the others to be built beside it.
        let gate = table.hold("b1")
        try table.want(kind, in: "b1")
        table.engine.installBackgroundWork()
        table.engine.want(
            remembered: [("b3", kind), ("b2", kind), ("b4", kind), ("b3", name)].map {
                ColumnName(bucket: $0.0, field: $0.1)
            })
        try table.want(kind, in: "b5")
        gate.signal()
        table.settle()
        #expect(table.documents.state.withLock { $0.passes } == ["b1", "b5", "b3", "b2", "b4"])
        // The order of use is kept, until something is used.
        _ = table.engine.takeChangedColumns()
        table.engine.noteUsedColumns()
        _ = table.engine.takeChangedColumns()
        table.engine.noteUsedColumns()
        #expect(table.engine.takeChangedColumns() == nil)
        _ = try table.engine.count(Self.clause, in: "b4")
        table.engine.noteUsedColumns()
        #expect(table.engine.takeChangedColumns()?.first == ColumnName(bucket: "b4", field: kind))
    }
}

extension EngineTable {
    /// The time by the engine's clock, in nanoseconds.
    fileprivate var nanoseconds: Int64 { engine.clock.nanoseconds() }

    fileprivate func prepareCount(
        _ clause: Clause, in bucket: BucketName = shops
    ) throws -> any PreparedRead { try engine.prepare(.count(clause, in: bucket)) }

    /// Has a column of a field requested.
    fileprivate func want(_ field: FieldPath, in bucket: BucketName) throws {
        _ = try engine.count(.eq(field, .null), in: bucket)
    }
}
