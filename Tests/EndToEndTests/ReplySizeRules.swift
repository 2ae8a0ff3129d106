import Objects
import TestSupport
import Testing

/// A page ends early rather than pass the server's limit of a reply.
@Suite struct ReplySizeRules {
    private static func request(
        _ order: String, key: String?, id: String = "1", limit: Int = 200, more: String = ""
    ) -> String {
        let pagination = key.map { #","paginationKey":"\#($0)""# } ?? ""
        return
            #"{"jsonrpc":"2.0","id":\#(id),"method":"bucket.query","params":{"bucket":"b1","#
            + #""bucketQuery":{"clause":\#(PageRules.near)\#(order)},"bestEffortLimit":\#(limit)"#
            + "\(pagination)\(more)}}"
    }

    /// Objects of one size, so that it can be told how many fit.
    private static func objects(_ count: Int, padding: Int) -> [(String, String)] {
        (100..<100 + count).map {
            ("i\($0)", #""a":"\#(String(repeating: "é", count: padding))","p":\#(point(0, 0))"#)
        }
    }

    @Test(arguments: ["", #","orderBy":"_calculated.d""#, #","orderBy":"a""#])
    func `Pages hold as many objects as fit into a reply, and no more`(_ order: String) async throws
    {
        let clock = TestClock(1_000)
        let whole = try await TestService.with(clock: clock) { service in
            try await service.store(Self.objects(4, padding: 20))
            return try await service.line(Self.request(order, key: nil))
        }
        let first = try await TestService.with(clock: clock) { service in
            try await service.store(Self.objects(4, padding: 20))
            return try await service.line(Self.request(order, key: nil, limit: 3))
        }
        for replyBytes in [
            first.utf8.count - 1, first.utf8.count, first.utf8.count + 1, whole.utf8.count - 1,
            whole.utf8.count, whole.utf8.count + 1,
        ] {
            var limits = Limits()
            limits.replyBytes = replyBytes
            try await TestService.with(limits: limits, clock: clock) { service in
                try await service.store(Self.objects(4, padding: 20))
                let line = try await service.line(Self.request(order, key: nil))
                #expect(line.utf8.count <= replyBytes)
                let page = try JSONValue(parsing: line)["result"]
                let fitting =
                    replyBytes >= whole.utf8.count ? 4 : (replyBytes >= first.utf8.count ? 3 : 2)
                #expect(page?.ids.count == fitting, "\(replyBytes) bytes")
                #expect((page?.nextPaginationKey != nil) == (fitting < 4))
            }
        }
    }

    @Test func `Cut pages together hold everything once, and each has an object`() async throws {
        for replyBytes in [1, 500, 900, 1_500, 4_000] {
            var limits = Limits()
            limits.replyBytes = replyBytes
            try await TestService.with(limits: limits) { service in
                var random = SplitMix64(seed: UInt64(replyBytes))
                let objects = (0..<40).flatMap { _ in Self.objects(1, padding: random.below(300)) }
                    .enumerated().map { ("o\(100 + $0)", $1.1) }
                try await service.store(objects)
                for order in ["", #","orderBy":"a""#] {
                    var (ids, key) = ([String](), String?.none)
                    repeat {
                        let line = try await service.line(Self.request(order, key: key))
                        let page = try #require(try JSONValue(parsing: line)["result"])
                        #expect(page.ids.count >= 1)
                        #expect(line.utf8.count <= replyBytes || page.ids.count == 1)
                        ids += page.ids
                        key = page.nextPaginationKey
                    } while key != nil && ids.count <= 40
                    #expect(Set(ids) == Set(objects.map(\.0)), "\(replyBytes) \(order)")
                    #expect(ids.count == 40)
                }
            }
        }
    }

    @Test func `The id of the request and the chosen fields count too`() async throws {
        var limits = Limits()
        limits.replyBytes = 2_000
        try await TestService.with(limits: limits) { service in
            try await service.store(Self.objects(60, padding: 50))
            let short = try await service.line(Self.request("", key: nil))
            let id = "\"" + String(repeating: "x", count: 600) + "\""
            let long = try await service.line(Self.request("", key: nil, id: id))
            for line in [short, long] { #expect((1_600...2_000).contains(line.utf8.count)) }
            func count(_ line: String) throws -> Int {
                try JSONValue(parsing: line)["result"]?.ids.count ?? 0
            }
            #expect(try count(long) < count(short))
            let narrow = try await service.line(Self.request("", key: nil, more: #","fields":[]"#))
            #expect(try count(narrow) > count(short))
            #expect((1_900...2_000).contains(narrow.utf8.count))
        }
    }

    @Test func `By default a reply to a query stays within 1,000,000 bytes`() async throws {
        try await TestService.with { service in
            for batch in 0..<4 {
                let objects = (0..<7).map {
                    ("i\(batch)\($0)", #""a":"\#(String(repeating: "x", count: 60_000))""#)
                }
                try await service.store(objects)
            }
            let line = try await service.line(
                #"{"jsonrpc":"2.0","id":1,"method":"bucket.query","params":{"bucket":"b1"}}"#)
            #expect((930_000...1_000_000).contains(line.utf8.count))
            let pages = try await PageRules.pages(service, limit: 200)
            #expect(pages.map(\.ids.count) == [16, 12])
            let info = try await service.call("server.info")
            #expect(info["limits"]?["replyBytes"] == .int(1_000_000))
        }
    }
}
