import GeoBucketClient
import Objects
import ServiceDesk
import TestSupport
import Testing
import Wire

@testable import geobucket

/// What scopes may hold: as flags and tokens say it, and as clients and operators are told.
@Suite struct QuotaRules {
    @Test func `A write over the quota is refused by its name, and server.stats tells of it`()
        async throws
    {
        let limits = Limits()
        limits.quotas.replace(rules: try QuotaText.rules("users/*:objects=2,bytes=1KB"))
        try await TestService.with(limits: limits) { service in
            func put(_ id: String) async throws -> String {
                try await service.outcome(
                    "object.put", #"{"bucket":"users/alice/notes","id":"\#(id)","object":{}}"#)
            }
            #expect(try await put("o1") == "accepted")
            #expect(try await put("o2") == "accepted")
            #expect(try await put("o3") == "QUOTA_EXCEEDED bucket")
            let stats = try await service.call("server.stats")
            #expect(stats["quotas"]?["refused"]?.int == 1)
            let near = try #require(stats["quotas"]?["nearest"]?.array?.first)
            #expect(near["scope"]?.string == "users/alice" && near["percent"]?.int == 100)
            #expect(near["objects"]?.int == 2 && near["bytes"]?.int == 4)
        }
        try await TestService.with { service in
            let stats = try await service.call("server.stats")
            #expect(stats["quotas"] == nil)
        }
    }

    @Test func `Rules name scopes and kinds of scopes, with bounds in the usual units`() throws {
        let rules = try QuotaText.rules(
            "users/*:objects=10000,bytes=50MB;users/alice:buckets=5;things/*:bytes=1KiB")
        #expect(
            rules == [
                "users": Quota(objects: 10_000, bytes: 50_000_000),
                "users/alice": Quota(buckets: 5), "things": Quota(bytes: 1_024),
            ])
    }

    @Test(arguments: [
        "", "users/*", "users/*:", "users/*:objects", "users/*:objects=x", "users/*:objects=-1",
        "users/*:size=1", "users/*:objects=1,objects=2", "users/*:objects=1;users/*:bytes=1",
        "orders/*:objects=1", "shops:objects=1", "*:objects=1", "users/*:objects=1KB",
    ])
    func `What makes no sense is refused`(_ text: String) {
        #expect(throws: QuotaText.Fault.self) { try QuotaText.rules(text) }
    }

    @Test func `A token may say what its principal's scope may hold`() throws {
        var file = TokenFile()
        let grant = try Grant(principal: "alice", role: .write)
        file.add(.init(Token(), grant, quota: Quota(objects: 5, bytes: 9), created: 1))
        file.add(.init(Token(), grant, quota: Quota(objects: 7, buckets: 2), created: 1))
        file.add(.init(Token(), try Grant(principal: "bob", role: .read), created: 1))
        let read = try TokenFile(json: file.json)
        #expect(read == file)
        #expect(read.quotas == ["alice": Quota(objects: 5, bytes: 9, buckets: 2)])
    }

    @Test func `The flag and the command are checked, and listed`() async throws {
        try await withTemporaryFolder { folder in
            let wrong = try await Program.run(
                ["serve", "--quota", "shops:objects=1"], folder: folder)
            #expect(wrong.status == 2)
            #expect(wrong.errors.contains(#"--quota: "shops" is neither a scope"#))
            let tokens = ["--tokens", folder + "/tokens"]
            let made = try await Program.run(
                ["token", "create", "--principal", "alice", "--quota", "objects=5,bytes=2KB"]
                    + tokens, folder: folder)
            #expect(made.status == 0, "\(made.errors)")
            let list = try await Program.run(["token", "list"] + tokens, folder: folder)
            #expect(list.output.contains("quota: objects=5,bytes=2000"), "\(list.output)")
        }
    }
}
