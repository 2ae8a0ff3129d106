import BackendContract
import Foundation
import GeoBucketClient
import JSONText
import Objects
import PostgresBackend
import TestSupport
import Testing

/// Nodes of which each holds a part of the buckets.
@Suite(.needsPostgreSQL, .serialized) struct SharedBucketTests {
    private static func put(_ bucket: String, _ id: String, _ number: Int) -> String {
        #"{"bucket":"\#(bucket)","id":"\#(id)","object":{"n":\#(number)}}"#
    }

    /// Puts objects into some buckets, each through another node.
    private static func fill(
        _ cluster: TestCluster, buckets: Int, objects: Int, nodes: Int
    ) async throws {
        for bucket in 0..<buckets {
            let text = (0..<objects).map { "{\"_id\":\"o\($0)\",\"n\":\($0)}" }
                .joined(separator: ",")
            try await cluster.call(
                bucket % nodes, "object.putMany",
                "{\"bucket\":\"b\(bucket)x\",\"objects\":[\(text)]}")
        }
    }

    @Test func `A request over HTTP reaches a bucket that another node holds`() async throws {
        try await TestCluster.with(nodes: 3, copies: 1) { cluster in
            func call(_ node: Int, _ method: String, _ params: String) async throws -> JSONValue {
                let port = cluster.webPort(node)
                let answer = try await onBlockingThreads {
                    try HTTPAnswer(
                        port: port, path: "/rpc", method: "POST",
                        headers: ["Content-Type: application/json"],
                        body:
                            #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#)
                }
                return try JSONValue(parsing: answer.body)["result"] ?? .null
            }
            for node in 0..<3 {
                for bucket in ["b1", "b2", "b3", "b4"] {
                    let put = try await call(
                        node, "object.create", #"{"bucket":"\#(bucket)","object":{"n":1}}"#)
                    #expect(put["_version"]?.int == 1)
                }
            }
            for node in 0..<3 {
                for bucket in ["b1", "b2", "b3", "b4"] {
                    let found = try await call(
                        node, "bucket.count", #"{"bucket":"\#(bucket)"}"#)
                    #expect(found["count"]?.int == 3, "\(bucket) at node \(node)")
                }
                let list = try await call(node, "bucket.list", "{}")
                #expect(list["buckets"]?.array?.count == 4)
            }
        }
    }

    @Test func `each bucket is on some of the nodes, and every node answers for each`()
        async throws
    {
        try await TestCluster.with(nodes: 3, copies: 1) { cluster in
            try await Self.fill(cluster, buckets: 12, objects: 20, nodes: 3)
            try await cluster.wait { shares in
                shares.reduce(0) { $0 + $1.held } == 12 && shares.allSatisfy { $0.loading == 0 }
            }
            let objects = (0..<3).map { cluster.backend($0).statistics().objects }
            #expect(objects.reduce(0, +) == 240 && objects.allSatisfy { $0 < 240 })
            for node in 0..<3 {
                for bucket in 0..<12 {
                    let count = try await cluster.call(
                        node, "bucket.count", "{\"bucket\":\"b\(bucket)x\"}")
                    #expect(count["count"]?.number?.exactInt == 20)
                    let number = node * 100 + bucket
                    try await cluster.call(
                        node, "object.put", Self.put("b\(bucket)x", "o1", number))
                    let found = try await cluster.call(
                        (node + 1) % 3, "object.get", "{\"bucket\":\"b\(bucket)x\",\"id\":\"o1\"}")
                    #expect(found["n"]?.number?.exactInt == number)
                }
                let list = try await cluster.call(node, "bucket.list")
                #expect(list["buckets"]?.array?.count == 12)
                #expect(try cluster.backend(node).check(until: nil).problems == [])
            }
        }
    }

    @Test func `a batch for several buckets is answered in its order`() async throws {
        try await TestCluster.with(nodes: 3, copies: 1) { cluster in
            let requests = (0..<30).map { number in
                #"{"jsonrpc":"2.0","id":\#(number),"method":"object.put","params":"#
                    + Self.put("b\(number % 7)x", "o1", number) + "}"
            }
            let answer = try await LineConnection.with(
                host: "127.0.0.1", port: cluster.port(0)
            ) { connection in
                try await connection.send(Array("[\(requests.joined(separator: ","))]".utf8))
            }
            let answers = try #require(try JSONValue(parsing: answer).array)
            #expect(answers.compactMap { $0["id"]?.number?.exactInt } == Array(0..<30))
            #expect(answers.allSatisfy { $0["result"] != nil })
            for bucket in 0..<7 {
                let last = (0..<30).last { $0 % 7 == bucket }
                let found = try await cluster.call(
                    2, "object.get", "{\"bucket\":\"b\(bucket)x\",\"id\":\"o1\"}")
                #expect(found["n"]?.number?.exactInt == last)
            }
        }
    }

    @Test func `what a node with latest reads has answered is read at one with local reads`()
        async throws
    {
        try await TestCluster.with(nodes: 1, copies: 2) { cluster in
            try await cluster.start(1, reads: .local)
            try await cluster.wait { $0.allSatisfy { $0.nodes == 2 && $0.loading == 0 } }
            for number in 0..<100 {
                let put = try await cluster.call(
                    0, "object.put", Self.put("shops", "o1", number))
                let change = try #require(put["change"]?.number?.exactInt)
                let found = try await cluster.call(
                    1, "object.get", #"{"bucket":"shops","id":"o1","atLeast":\#(change)}"#)
                #expect(found["n"]?.number?.exactInt == number)
            }
            let gone = try await cluster.call(0, "object.delete", #"{"bucket":"shops","id":"o1"}"#)
            let change = try #require(gone["change"]?.number?.exactInt)
            let code = try await cluster.errorCode(
                1, "object.get", #"{"bucket":"shops","id":"o1","atLeast":\#(change)}"#)
            #expect(code == "OBJECT_NOT_FOUND")
        }
    }

    @Test func `an export goes through a node that does not hold the bucket, piece by piece`()
        async throws
    {
        var limits = TestCluster.impatient
        limits.replyBytes = 2_000
        let brief = limits
        try await TestCluster.with(nodes: 2, copies: 1, limits: brief) { cluster in
            try await Self.fill(cluster, buckets: 1, objects: 100, nodes: 1)
            for node in 0..<2 {
                var ids: [String] = []
                try await LineConnection.with(
                    host: "127.0.0.1", port: cluster.port(node)
                ) { connection in
                    var more = true
                    while more {
                        let params = "{\"bucket\":\"b0x\",\"continue\":\(!ids.isEmpty)}"
                        let piece = try JSONValue(
                            parsing: try await connection.call(
                                "bucket.export", Array(params.utf8)))
                        ids += piece["objects"]?.array?.compactMap { $0["_id"]?.string } ?? []
                        more = piece["more"]?.bool == true
                    }
                }
                #expect(ids == (0..<100).map { "o\($0)" })
            }
        }
    }

    @Test func `buckets of a node that is gone come to others, whole`() async throws {
        try await TestCluster.with(nodes: 3, copies: 2) { cluster in
            try await Self.fill(cluster, buckets: 10, objects: 30, nodes: 3)
            try await cluster.wait { $0.reduce(0) { $0 + $1.held } >= 20 }
            await cluster.end(1)
            // Whoever asks meanwhile waits at most for the loading.
            for bucket in 0..<10 {
                let count = try await cluster.call(
                    0, "bucket.count", "{\"bucket\":\"b\(bucket)x\"}")
                #expect(count["count"]?.number?.exactInt == 30)
            }
            try await cluster.wait { $0.allSatisfy { $0.held >= 10 && $0.loading == 0 } }
            for node in [0, 2] {
                #expect(cluster.backend(node).statistics().objects == 300)
                #expect(try cluster.backend(node).check(until: nil).problems == [])
            }
        }
    }

    @Test func `a bucket that is loaded while it is written to has no hole`() async throws {
        try await TestCluster.with(nodes: 1, copies: 1) { cluster in
            try await Self.fill(cluster, buckets: 6, objects: 200, nodes: 1)
            let isOver = StopSignal()
            let writing = Task {
                var number = 0
                while !isOver.isStopped {
                    number += 1
                    let (bucket, id) = ("b\(number % 6)x", "o\(number % 50)")
                    let method = number % 5 == 0 ? "object.delete" : "object.put"
                    let params =
                        number % 5 == 0
                        ? "{\"bucket\":\"\(bucket)\",\"id\":\"\(id)\"}"
                        : Self.put(bucket, id, number)
                    _ = try? await cluster.call(0, method, params)
                }
                return number
            }
            for node in 1...2 {
                try await cluster.start(node)
                try await cluster.wait {
                    $0.allSatisfy { $0.nodes == node + 1 && $0.loading == 0 }
                        && $0.reduce(0) { $0 + $1.held } >= 6
                }
            }
            // The first node lets go of what is not its own any more.
            try await cluster.wait { $0.reduce(0) { $0 + $1.held } == 6 }
            isOver.stop()
            #expect(await writing.value > 0)
            for node in 0...2 {
                #expect(try cluster.backend(node).check(until: nil).problems == [])
            }
            let objects = (0...2).map { cluster.backend($0).statistics().objects }
            var counted = 0
            for bucket in 0..<6 {
                let count = try await cluster.call(
                    bucket % 3, "bucket.count", "{\"bucket\":\"b\(bucket)x\"}")
                counted += count["count"]?.number?.exactInt ?? 0
            }
            #expect(objects.reduce(0, +) == counted)
        }
    }

    @Test func `a node that does not hold a bucket judges no write to it`() async throws {
        try await TestCluster.with(nodes: 2, copies: 1) { cluster in
            try await Self.fill(cluster, buckets: 4, objects: 5, nodes: 2)
            try await cluster.wait { $0.reduce(0) { $0 + $1.held } == 4 }
            for bucket in (0..<4).map({ BucketName(trusted: "b\($0)x") }) {
                let other = (0..<2).first { !cluster.backend($0).placement!.isHeld(bucket) }!
                let refusal = await withCheckedContinuation { continuation in
                    cluster.backend(other).submit(.deleteBucket(bucket)) {
                        continuation.resume(returning: $0)
                    }
                }
                #expect(throws: ServiceFailure.notHeld(bucket)) { try refusal.get() }
                #expect(throws: ServiceFailure.notHeld(bucket)) {
                    var writer = JSONWriter()
                    try cluster.backend(other).get(
                        ObjectID(trusted: "o1"), in: bucket, into: &writer)
                }
            }
        }
    }

    @Test func `a node goes on from its cache, which has its part only, under the same id`()
        async throws
    {
        try await TestCluster.with(nodes: 2, copies: 1) { cluster in
            try await Self.fill(cluster, buckets: 8, objects: 10, nodes: 2)
            try await cluster.wait { $0.reduce(0) { $0 + $1.held } == 8 }
            let id = cluster.backend(1).placement!.nodes.first(where: \.isSelf)?.id
            let objects = cluster.backend(1).statistics().objects
            await cluster.end(1)
            // The node may still be taken for alive; with a key the write may be sent again.
            try await cluster.call(
                0, "object.put",
                #"{"bucket":"b0x","id":"new","object":{"n":1},"requestKey":"once"}"#)
            try await cluster.start(1)
            #expect(cluster.backend(1).placement!.nodes.first(where: \.isSelf)?.id == id)
            #expect((objects...objects + 1).contains(cluster.backend(1).statistics().objects))
            try await cluster.wait { $0.allSatisfy { $0.nodes == 2 && $0.loading == 0 } }
            let found = try await cluster.call(
                1, "object.get", #"{"bucket":"b0x","id":"new"}"#)
            #expect(found["n"]?.number?.exactInt == 1)
            #expect(try cluster.backend(1).check(until: nil).problems == [])
        }
    }

    @Test func `a bucket that does not fit is refused by name and size, and others go on`()
        async throws
    {
        var limits = TestCluster.impatient
        limits.heldBytes = 20_000
        limits.queryMilliseconds = 1_000
        let small = limits
        try await TestCluster.with(nodes: 1, copies: 1, limits: small) { cluster in
            try await cluster.call(0, "object.put", Self.put("small", "o1", 1))
            try await Self.fill(cluster, buckets: 1, objects: 1_000, nodes: 1)
            await cluster.end(0)
            try FileManager.default.removeItem(atPath: cluster.cachePath(0))
            try await cluster.start(0)
            let found = try await cluster.call(
                0, "object.get", #"{"bucket":"small","id":"o1"}"#)
            #expect(found["n"]?.number?.exactInt == 1)
            do {
                try await cluster.call(0, "bucket.count", #"{"bucket":"b0x"}"#)
                Issue.record("the bucket was loaded")
            } catch ClientFailure.refused(let failure) {
                #expect(failure.errorCode == "TEMPORARY_UNAVAILABLE_ERROR")
                #expect(failure.message.hasPrefix("the bucket \"b0x\" with its 1000 objects"))
                #expect(failure.message.hasSuffix("of the 20000 that it may (heldBytes)"))
            }
        }
    }

    @Test func `server.route names the holders, server.info all nodes, and all nodes can be asked`()
        async throws
    {
        try await TestCluster.with(nodes: 3, copies: 2) { cluster in
            let addresses = Set((0..<3).map { "127.0.0.1:\(cluster.port($0))" })
            let nodes = try await cluster.call(0, "server.info")["nodes"]?.array
            #expect(Set(nodes?.compactMap(\.string) ?? []) == addresses)
            for node in 0..<3 {
                let route = try await cluster.call(node, "server.route", #"{"bucket":"shops"}"#)
                let holders = route["nodes"]?.array?.compactMap(\.string) ?? []
                #expect(holders.count == 2 && addresses.isSuperset(of: holders))
            }
            for method in ["server.stats", "store.check"] {
                let all = try await cluster.call(1, method, #"{"cluster":true}"#)["nodes"]?.array
                #expect(all?.count == 3)
                #expect(all?.allSatisfy { $0["result"] != nil } == true)
            }
        }
    }

    @Test func `a node with another token is not believed`() async throws {
        try await Self.checkStranger { try await $0.start(1, token: "a token of somebody else") }
    }

    /// Checks that a node that does not belong to the others is passed nothing, and passes nothing on.
    static func checkStranger(
        tls: TestCluster.TLS? = nil,
        _ startStranger: @escaping @Sendable (TestCluster) async throws -> Void
    ) async throws {
        var limits = TestCluster.impatient
        limits.queryMilliseconds = 500
        try await TestCluster.with(nodes: 1, copies: 1, limits: limits, tls: tls) { cluster in
            try await fill(cluster, buckets: 8, objects: 1, nodes: 1)
            try await startStranger(cluster)
            try await cluster.wait { shares in
                shares.allSatisfy { $0.nodes == 2 && $0.loading == 0 }
                    && shares.reduce(0) { $0 + $1.held } == 8
            }
            for number in 0..<8 {
                let bucket = BucketName(trusted: "b\(number)x")
                for node in 0..<2 where !cluster.backend(node).placement!.isHeld(bucket) {
                    let code = try await cluster.errorCode(
                        node, "bucket.count", "{\"bucket\":\"\(bucket.text)\"}")
                    #expect(code == "TEMPORARY_UNAVAILABLE_ERROR", "\(bucket) at node \(node)")
                }
            }
        }
    }

    @Test func `a connection that only seems to be a node's is closed`() async throws {
        try await TestCluster.with(nodes: 1, copies: 1) { cluster in
            try RawConnection.with(port: cluster.port(0)) { connection in
                try connection.send("GEOBUCKET-NODE 1 \(String(repeating: "0", count: 32))\n")
                #expect(try connection.line()?.hasPrefix("GEOBUCKET-NODE 1 ") == true)
                try connection.send(String(repeating: "0", count: 64) + "\n")
                #expect(try connection.line()?.contains("UNAUTHORIZED") == true)
            }
        }
    }
}
