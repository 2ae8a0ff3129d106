import BackendContract
import Dispatch
import JSONText
import Objects
import QueryLanguage
import Runtime
import SpatialIndex
import Synchronization
import TestSupport
import Testing

@testable import InMemoryEngine

/// Columns, their orders and renumbered slots, made beside the writer, against the documents.
@Suite struct BackgroundTests {
    @Test(arguments: Seeds.first(4))
    func `whatever is written while something is made, queries find what the documents say`(
        seed: UInt64
    ) throws {
        var random = SplitMix64(seed: seed)
        let table = EngineTable()
        for round in 0..<40 {
            table.write(random.below(300), &random)
            if random.oneIn(6) { table.deleteMost(&random) }
            // Asking has columns and orders made.
            try table.check("seed \(seed), round \(round)")
            if random.oneIn(2) { table.engine.installBackgroundWork() }
            if random.oneIn(4) { table.settle() }
        }
        table.settle()
        try table.check("seed \(seed), at the end")
        #expect(table.engine.violations() == [], "seed \(seed)")
    }

    @Test
    func `an order that waits behind another bucket's columns is made of the slots there are`()
        throws
    {
        var random = SplitMix64(seed: 1)
        let table = EngineTable()
        table.write(6_000, &random)
        try table.check("filled")
        table.settle()
        let gate = table.hold("busy")
        table.create(in: "busy", 300, &random)
        _ = try table.engine.count(.eq(kind, .number(.integer(1))), in: "busy")
        table.engine.installBackgroundWork()
        // Ordered by what has a column, over more candidates than a query looks at without an order.
        _ = try table.page(orderedBy: kind)
        table.deleteAll()
        table.write(70, &random)
        gate.signal()
        table.settle()
        table.write(70, &random)
        try table.check("after")
        #expect(table.engine.violations() == [])
    }

    @Test
    func `a reader that passes over expired objects leaves the transaction's new values alone`()
        throws
    {
        let table = EngineTable()
        var random = SplitMix64(seed: 2)
        table.write(400, &random)
        table.create(in: shops, 50, &random, expires: 1_000)
        try table.check("filled")
        table.settle()
        let next = table.engine.nextSnapshot()
        let creation = table.put(into: next)
        table.now.withLock { $0 = 2_000 }
        try table.check("expired")
        table.publish(next, with: creation)
        try table.check("published")
    }

    @Test func `a field that no object has gets a column of a quarter of those a bucket may have`()
        throws
    {
        var random = SplitMix64(seed: 3)
        let table = EngineTable { limits in
            limits.bucketColumns = 8
            limits.columnsPerMinute = 30
        }
        table.write(300, &random)
        let fields = (0..<25).map { FieldPath("absent\($0)") }
        for field in fields {
            let clause = Clause.hasField(field, nil)
            #expect(try table.engine.count(clause, in: shops, by: "a") == 0)
            table.settle()
        }
        #expect(table.columns.count == 2)
        // Those that were asked for last are there.
        #expect(Set(table.columns).isSubset(of: fields.suffix(5)))
        #expect(table.engine.takeChangedColumns() == [])
    }

    @Test func `one principal has columnsPerMinute columns made in a minute, another as many`()
        throws
    {
        var random = SplitMix64(seed: 4)
        let table = EngineTable { $0.columnsPerMinute = 3 }
        table.write(300, &random)
        let clause = Clause.or((0..<9).map { .hasField(FieldPath("f\($0)"), nil) })
        for (principal, columns) in [("a", 3), ("a", 3), ("b", 6), (nil, 9)] {
            _ = try table.engine.count(clause, in: shops, by: principal)
            table.settle()
            #expect(table.columns.count == columns, "\(principal ?? "nobody")")
        }
    }

    @Test func `no more than bucketColumns columns are made; unused ones make room`() throws {
        var random = SplitMix64(seed: 5)
        let table = EngineTable { $0.bucketColumns = 2 }
        table.write(300, &random)
        for field in [kind, name, FieldPath("size")] {
            for _ in 0..<2 {
                _ = try table.engine.count(.hasField(field, nil), in: shops)
                table.settle()
            }
            #expect(table.columns.count <= 2)
        }
        try table.check("with two columns")
    }
}
