import TestSupport
import Testing

/// What the service tells of itself and of how it runs a query.
@Suite struct ServerRules {
    @Test func `server.info names the service, its protocol, its store and its limits`()
        async throws
    {
        try await TestService.with { service in
            let info = try await service.call("server.info")
            #expect(info["name"] == .string("geobucket"))
            #expect(info["version"]?.string?.isEmpty == false)
            #expect(info["protocol"] == .int(1))
            let store = BackendKind.usualHasFile ? "sqlite" : "postgresql"
            #expect(info["store"] == .string(store))
            for (limit, value) in [
                ("lineBytes", 1_048_576), ("replyBytes", 1_000_000), ("objectBytes", 262_136),
                ("objectCharacters", 65_534),
                ("pageObjects", 200), ("batchRequests", 1_000),
            ] {
                #expect(info["limits"]?[limit] == .int(value), "\(limit)")
            }
        }
    }

    @Test func `server.stats counts requests and errors by method, buckets, objects and points`()
        async throws
    {
        try await TestService.with { service in
            try await service.store([
                "o1": #""p":\#(point(1, 1)),"q":\#(point(1, 1))"#, "o2": #""p":\#(point(2, 2))"#,
            ])
            try await service.store(["o1": ""], in: "b2")
            for _ in 0..<3 { try await service.call("server.ping") }
            _ = try await service.outcome("object.get", #"{"bucket":"b1","id":"o9"}"#)
            _ = try await service.outcome("object.get", #"{"bucket":"b1","id":"!"}"#)
            try await service.call("object.get", #"{"bucket":"b1","id":"o1"}"#)
            let stats = try await service.call("server.stats")
            #expect(stats["requests"]?["server.ping"]?["count"] == .int(3))
            #expect(stats["requests"]?["server.ping"]?["errors"] == .int(0))
            #expect(stats["requests"]?["object.get"]?["count"] == .int(3))
            #expect(stats["requests"]?["object.get"]?["errors"] == .int(2))
            #expect(stats["connections"]?["open"] == .int(1))
            #expect(stats["buckets"] == .int(2))
            #expect(stats["objects"] == .int(3))
            #expect(stats["points"] == .int(3))
            let memory = stats["memory"]
            for part in ["resident", "bucket", "record", "id", "point", "storeCache"] {
                #expect((memory?["\(part)Bytes"]?.int ?? 0) > 0, "\(part)")
            }
            for part in ["column", "cachedDocument", "supersededDocument"] {
                #expect(memory?["\(part)Bytes"]?.int != nil, "\(part)")
            }
            #expect((stats["storeBytes"]?.int ?? 0) > 0)
            #expect((stats["uptimeSeconds"]?.int ?? -1) >= 0)
            #expect((stats["cpuSeconds"]?.double ?? 0) > 0)
            try await service.call("bucket.delete", #"{"bucket":"b1"}"#)
            let after = try await service.call("server.stats")
            #expect(after["buckets"] == .int(1))
            #expect(after["objects"] == .int(1))
            #expect(after["points"] == .int(0))
            #expect(after["memory"]?["pointBytes"] == .int(0))
        }
    }

    @Test func `bucket.explain tells the chosen path and the others, analyzed also what it took`()
        async throws
    {
        let near =
            #"{"type":"geodistance","field":"p","center":\#(point(0, 0)),"radius":200000,"putDistanceInto":"d"}"#
        try await TestService.with { service in
            try await service.store(
                (0..<200).map { ("i\($0)", "\"p\":\(point(Double($0) / 10, 0))") })
            for order in ["", #""orderBy":"_calculated.d""#] {
                let params = queryParams(near, order, "", "b1")
                let plan = try await service.call("bucket.explain", params)
                #expect(plan["accessPath"]?.string?.isEmpty == false)
                #expect(plan["accessPath"] != .string("scan"))
                #expect(plan["estimatedMicroseconds"]?.int != nil)
                let others = try #require(plan["alternatives"]?.array)
                #expect(!others.isEmpty)
                for other in others {
                    #expect(other["accessPath"]?.string != nil)
                    #expect(other["estimatedMicroseconds"]?.int != nil)
                }
                let analyzed = try await service.call(
                    "bucket.explain", String(params.dropLast()) + #","analyze":true}"#)
                #expect(analyzed.names.count > plan.names.count)
                #expect(
                    try await service.outcome(
                        "bucket.explain", String(params.dropLast()) + #","analyze":1}"#)
                        == "INVALID_INPUT_DATA analyze")
            }
        }
    }
}
