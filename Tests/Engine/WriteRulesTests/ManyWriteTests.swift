import BackendContract
import Objects
import QueryLanguage
import Testing

/// Writes of many objects, deletions by clause and of whole buckets, expiry.
@Suite struct ManyWriteTests {
    @Test func `many objects are put in their order, each over what the ones before left`() throws {
        let court = Court(newIDs: ["n1", "n2"])
        _ = try court.result(of: try put("b"))
        let objects = [
            try object("{}", id: "a"), try object("{}"), try object("{}", id: "b"),
            try object("{}"), try object("{}", id: "a"),
        ]
        #expect(
            try court.outcome(of: .putMany(bucket: shops, objects: objects)) == "[1, 1, 2, 1, 2]")
        #expect(court.state.buckets[shops]?.map(\.metadata.id.text) == ["b", "a", "n1", "n2"])
    }

    @Test func `no objects make no bucket`() throws {
        let court = Court()
        #expect(try court.outcome(of: .putMany(bucket: shops, objects: [])) == "[]")
        #expect(court.state.buckets.isEmpty)
    }

    @Test func `new ids are asked for until one is free`() throws {
        let court = Court(newIDs: ["a", "a", "b", "b", "a", "c"])
        let objects = [try object("{}"), try object("{}"), try object("{}")]
        _ = try court.result(of: .putMany(bucket: shops, objects: objects))
        #expect(court.state.buckets[shops]?.map(\.metadata.id.text) == ["a", "b", "c"])
    }

    @Test func `an id is not free while an expired object has it`() throws {
        var court = Court(newIDs: ["a", "b"])
        _ = try court.result(of: try put("a", expires: 1_500))
        court.now = 2_000
        _ = try court.result(of: try put(nil))
        #expect(court.text("b") != nil)
    }

    @Test func `a clause deletes what satisfies it, which may be nothing`() throws {
        let court = Court()
        for number in 0..<6 {
            _ = try court.result(of: try put("o\(number)", #"{"n":\#(number % 2)}"#))
        }
        let odd = Clause.eq(FieldPath("n"), .number(.integer(1)))
        #expect(try court.outcome(of: .deleteWhere(bucket: shops, clause: odd)) == "deleted 3")
        #expect(try court.outcome(of: .deleteWhere(bucket: shops, clause: odd)) == "deleted 0")
        #expect(court.state.buckets[shops]?.count == 3)
        let none = BucketName(trusted: "none")
        #expect(try court.outcome(of: .deleteWhere(bucket: none, clause: .all)) == "deleted 0")
    }

    @Test func `a bucket goes with its objects; those that have expired are not counted`() throws {
        var court = Court()
        for number in 0..<3 {
            _ = try court.result(of: try put("o\(number)", expires: number == 1 ? 1_500 : nil))
        }
        court.now = 1_500
        #expect(try court.outcome(of: .deleteBucket(shops)) == "deleted 2")
        #expect(court.state.buckets.isEmpty)
        #expect(try court.outcome(of: .deleteBucket(shops)) == "BUCKET_NOT_FOUND bucket")
        #expect(try court.outcome(of: try put("o1")) == "[1]")
    }

    @Test func `an object is there until the millisecond at which it expires`() throws {
        for (now, outcome) in [(4_999, "[2]"), (5_000, "OBJECT_NOT_FOUND")] as [(Int64, String)] {
            var court = Court()
            _ = try court.result(of: try put("o1", expires: 5_000))
            court.now = now
            #expect(try court.outcome(of: patch("o1")) == outcome, "at \(now)")
            #expect((court.text("o1") == nil) == (now == 5_000), "at \(now)")
        }
    }

    @Test func `expired objects are removed some at a time, first those that expired first`() throws
    {
        var court = Court()
        for (id, expires) in [("a", 3_000), ("b", 1_500), ("c", nil), ("d", 2_000), ("e", 2_001)]
            as [(String, Int64?)]
        {
            _ = try court.result(of: try put(id, expires: expires))
        }
        court.now = 2_001
        func left() -> [String]? { court.state.buckets[shops]?.map(\.metadata.id.text) }
        let last = try court.evaluator.removeExpired(atMost: 2)
        #expect(last?.time == 2_000)
        #expect(left() == ["a", "c", "e"])
        #expect(try court.evaluator.removeExpired(after: last, atMost: 2) == nil)
        #expect(left() == ["a", "c"])
        #expect(try court.evaluator.removeExpired(atMost: 2) == nil)
        #expect(left() == ["a", "c"])
    }

    @Test func `damaged objects do not keep expired ones from being removed`() throws {
        var court = Court()
        for number in 0..<10 {
            _ = try court.result(of: try put("o\(number)", expires: 1_500))
        }
        for number in 0..<6 { court.state.buckets[shops]![number].isDamaged = true }
        court.now = 2_000
        var last = try court.evaluator.removeExpired(atMost: 2)
        while let passed = last {
            last = try court.evaluator.removeExpired(after: passed, atMost: 2)
        }
        #expect(court.state.buckets[shops]?.map(\.metadata.id.text) == (0..<6).map { "o\($0)" })
    }

    @Test func `expired objects beyond the time of a call are left to the next`() throws {
        var court = Court()
        for number in 0..<4 { _ = try court.result(of: try put("o\(number)", expires: 1_500)) }
        court.now = 2_000
        let last = try court.evaluator.removeExpired(atMost: 10) { true }
        #expect(court.state.buckets[shops]?.count == 3)
        #expect(try court.evaluator.removeExpired(after: last, atMost: 10) == nil)
        #expect(court.state.buckets[shops]?.count == 0)
    }
}
