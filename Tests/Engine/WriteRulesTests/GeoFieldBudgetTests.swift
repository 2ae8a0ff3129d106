import BackendContract
import Objects
import Testing

/// "`geoFields`: field paths at which one bucket holds GeoPoints."
@Suite struct GeoFieldBudgetTests {
    private func court(_ limit: Int) -> Court {
        var limits = Limits()
        limits.geoFields = limit
        return Court(limits: limits)
    }

    private func many(_ texts: [String]) throws -> Write {
        .putMany(
            bucket: shops,
            objects: try texts.enumerated().map { try object($1, id: "o\($0)") })
    }

    @Test func `a bucket may have as many paths as the limit, and no more`() throws {
        for (limit, expected) in [(3, "INVALID_INPUT_DATA object.d"), (4, "[1]"), (5, "[1]")] {
            let court = court(limit)
            _ = try court.result(of: try put("o1", points("a", "b")))
            let found = try court.outcome(of: try put("o2", points("c", "a", "d")))
            #expect(found == expected, "limit \(limit)")
        }
    }

    @Test func `of many objects the first with one path too many is named, and none is kept`()
        throws
    {
        let court = court(2)
        _ = try court.result(of: try put("old", points("a")))
        let found = try court.outcome(
            of: try many(["{}", points("b"), points("a"), points("b", "c")]))
        #expect(found == "INVALID_INPUT_DATA objects[3].c")
        #expect(court.state.buckets[shops]?.count == 1)
        #expect(try court.outcome(of: try many([points("b"), points("b", "a")])) == "[1, 1]")
    }

    @Test func `every bucket has its own paths`() throws {
        let court = court(1)
        _ = try court.result(of: try put("o1", points("a")))
        let elsewhere = Write.put(
            bucket: BucketName(trusted: "other"), object: try object(points("b"), id: "o1"),
            condition: .none)
        #expect(try court.outcome(of: elsewhere) == "[1]")
    }

    @Test func `a path is free again when no object has a point there`() throws {
        let court = court(1)
        _ = try court.result(of: try put("o1", points("a")))
        #expect(try court.outcome(of: try put("o2", points("b"))) == "INVALID_INPUT_DATA object.b")
        _ = try court.result(of: patch("o1", #"{"a":null}"#))
        #expect(try court.outcome(of: try put("o2", points("b"))) == "[1]")
    }

    @Test func `the paths of an expired object are free for who takes its id`() throws {
        var court = court(1)
        _ = try court.result(of: try put("o1", points("a"), expires: 1_500))
        court.now = 1_500
        #expect(try court.outcome(of: try put("o1", points("b"))) == "[1]")
    }

    @Test func `a path that is too long to be told is shortened`() throws {
        let court = court(0)
        let name = String(repeating: "x", count: 5_000)
        let found = try court.outcome(of: try put("o1", points(name)))
        #expect(found.hasPrefix("INVALID_INPUT_DATA object.xxx"))
        #expect(found.utf8.count < 1_000)
    }
}
