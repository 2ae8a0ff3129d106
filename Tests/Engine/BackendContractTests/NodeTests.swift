import BackendContract
import Dispatch
import Foundation
import Glibc
import JSONText
import Objects
import Runtime
import TestSupport
import Testing

@testable import PostgresBackend

/// What nodes of one cluster do that one back end alone cannot.
@Suite(.needsPostgreSQL) struct NodeTests {
    /// Two nodes; each client writes on one of them and reads on the other.
    private static func withNodes(
        _ body: (_ a: DirectClient, _ b: DirectClient, _ pair: NodePair, _ path: String)
            async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/nodes"
            let pair = try NodePair(.init(path: path))
            defer { try? pair.close() }
            let limits = Limits()
            try await body(
                DirectClient(backend: pair, limits: limits),
                DirectClient(backend: pair.reversed, limits: limits), pair, path)
        }
    }

    /// Runs statements on the tables, as somebody else might.
    private static func run(_ statements: [String], at path: String) throws {
        let address = try NodePair.address(of: path)
        let clock = ServiceClock()
        let deadline = clock.deadline(after: hangTime)
        let connection = try PostgresConnection(address, clock: clock)
        try ClusterSchema.selectSchema(connection, address.schema, until: deadline)
        _ = try connection.run(statements.map { PostgresStatement($0) }, until: deadline)
    }

    private static func put(_ id: String, _ number: Int) -> String {
        #"{"bucket":"shops","id":"\#(id)","object":{"n":\#(number)}}"#
    }

    @Test func `a node that is closed has no connection, even while somebody holds it`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let opening = BackendKind.Opening(path: folder + "/node")
            let address = try NodePair.address(of: opening.path)
            let named = try PostgresAddress(
                url: PostgresServer.shared!.url + "&application_name=closed",
                schema: address.schema)
            let backend = try PostgresBackend(
                .init(address: named, cache: opening.path), limits: Limits(),
                logger: opening.logger)
            let clock = ServiceClock()
            let connection = try PostgresConnection(address, clock: clock)
            func connections() throws -> Int64 {
                let count = PostgresStatement(
                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'closed'")
                return try connection.run([count], until: clock.deadline(after: hangTime))[0].int(
                    0, 0)
            }
            let object = PutObject(
                id: ObjectID(trusted: "x"),
                document: WrittenDocument(text: Array("{}".utf8), points: []))
            _ = try await withCheckedThrowingContinuation { continuation in
                backend.submit(
                    .put(bucket: BucketName(trusted: "shops"), object: object, condition: .none)
                ) { continuation.resume(with: $0) }
            }
            await withCheckedContinuation { continuation in
                let begins = backend.mayRead(1, atLeast: nil) { _ in continuation.resume() }
                if begins { continuation.resume() }
            }
            #expect(try connections() >= 3)
            try backend.close()
            // The server notices the end of a connection soon, and not at once.
            let isAlone = try await waited { try connections() == 0 }
            #expect(isAlone)
            withExtendedLifetime(backend) {}
        }
    }

    @Test func `a node whose clock is off says by how much`() async throws {
        try await withTemporaryFolder { folder in
            let log = LogLines()
            var opening = BackendKind.Opening(path: folder + "/node")
            opening.logger = log.logger
            opening.clock.milliseconds = { wallMilliseconds() + 3_600_000 }
            let node = try NodePair.node("ahead", opening)
            defer { try? node.close() }
            let isLogged = try await waited {
                log.all(from: .warning).contains { $0.contains("clock differs") }
            }
            #expect(isLogged)
            let skew = try #require(node.statistics().cluster?.skewMilliseconds)
            #expect(abs(skew - 3_600_000) < 60_000, "\(skew)")
        }
    }

    @Test func `each node sees what the other has answered`() async throws {
        try await Self.withNodes { a, b, _, _ in
            for number in 0..<50 {
                let (writer, other) = number.isMultiple(of: 2) ? (a, b) : (b, a)
                try await writer.value("object.put", Self.put("x\(number % 7)", number))
                for reader in [a, other] {
                    let found = try await reader.value(
                        "object.get", #"{"bucket":"shops","id":"x\#(number % 7)"}"#)
                    #expect(found["n"]?.number?.exactInt == number)
                }
            }
        }
    }

    @Test func `a read that names an old change sees what was answered all the same`() async throws
    {
        try await Self.withNodes { a, _, pair, _ in
            for n in 1...50 {
                _ = try await a.value("object.put", Self.put("x1", n))
                let done = DispatchSemaphore(value: 0)
                let mayRead = pair.reading.mayRead(1, atLeast: 1) { _ in done.signal() }
                #expect(!mayRead, "PostgreSQL is asked")
                done.wait()
                var writer = JSONWriter()
                let (id, bucket) = (ObjectID(trusted: "x1"), BucketName(trusted: "shops"))
                try pair.reading.get(id, in: bucket, into: &writer)
                #expect(String(decoding: writer.bytes, as: UTF8.self).contains("\"n\":\(n)"))
            }
        }
    }

    /// The version that a put leads to.
    private static func put(
        _ id: String, _ number: Int, if condition: WriteCondition = .none, key: String? = nil,
        on backend: any Backend
    ) async throws -> Int64? {
        let text = Array("{\"n\":\(number)}".utf8)
        let object = PutObject(
            id: ObjectID(trusted: id), document: WrittenDocument(text: text, points: []))
        let write = Write.put(bucket: try BucketName("shops"), object: object, condition: condition)
        let answer = await withCheckedContinuation { continuation in
            backend.submit(write, key: key.map { RequestKey(text: $0, request: text) }, by: "") {
                continuation.resume(returning: $0)
            }
        }
        guard case .stored(let stored) = try answer.get() else { return nil }
        return stored.first?.metadata.version
    }

    private static func refusal(
        _ body: () async throws -> Int64?
    ) async throws -> ServiceFailure.Reason? {
        do {
            _ = try await body()
            return nil
        } catch let failure as ServiceFailure {
            return failure.reason
        }
    }

    @Test func `versions and request keys hold on every node`() async throws {
        try await Self.withNodes { _, _, pair, _ in
            let (a, b) = (pair, pair.reversed)
            #expect(try await Self.put("k1", 1, key: "once", on: a) == 1)
            #expect(try await Self.put("k1", 1, key: "once", on: b) == 1)
            let stale = try await Self.refusal {
                try await Self.put("k1", 2, if: .version(2), on: b)
            }
            #expect(stale == .versionIsStale)
            #expect(try await Self.put("k1", 2, if: .version(1), on: b) == 2)
            let other = try await Self.refusal { try await Self.put("k1", 3, key: "once", on: a) }
            #expect(other == .invalidInputData)
            let absent = try await Self.refusal { try await Self.put("k1", 3, if: .absent, on: a) }
            #expect(absent == .alreadyExists)
        }
    }

    @Test func `a bucket that was deleted and made again is the new one everywhere`() async throws {
        try await Self.withNodes { a, b, pair, _ in
            for round in 0..<5 {
                for number in 0..<20 {
                    try await a.value("object.put", Self.put("o\(number)", number + round))
                }
                try await b.value("bucket.delete", #"{"bucket":"shops"}"#)
                try await a.value("object.put", Self.put("o1", 100 + round))
                let count = try await b.value("bucket.count", #"{"bucket":"shops"}"#)
                #expect(count["count"]?.number?.exactInt == 1)
                let found = try await a.value("object.get", #"{"bucket":"shops","id":"o1"}"#)
                #expect(found["n"]?.number?.exactInt == 100 + round)
            }
            #expect(try pair.check(until: nil).problems == [])
        }
    }

    @Test func `both nodes write at once, and nothing is lost or done twice`() async throws {
        try await Self.withNodes { a, b, pair, _ in
            try await a.value("object.put", Self.put("sum", 0))
            // Every increment is done under the version that it was read at.
            @Sendable func increment(_ client: DirectClient) async throws {
                while true {
                    let present = try await client.value(
                        "object.get", #"{"bucket":"shops","id":"sum"}"#)
                    let value = try #require(present["n"]?.number?.exactInt)
                    let version = try #require(present["_version"]?.number?.exactInt)
                    let refusal = try await Self.refusal {
                        try await Self.put(
                            "sum", value + 1, if: .version(Int64(version)), on: client.backend)
                    }
                    if refusal == nil { return }
                    #expect(refusal == .versionIsStale)
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for client in [a, b, a, b] {
                    group.addTask { for _ in 0..<10 { try await increment(client) } }
                }
                try await group.waitForAll()
            }
            let sum = try await b.value("object.get", #"{"bucket":"shops","id":"sum"}"#)
            #expect(sum["n"]?.number?.exactInt == 40 && sum["_version"]?.number?.exactInt == 41)
            #expect(try pair.check(until: nil).problems == [])
        }
    }

    @Test func `a node without a cache copies the tables, one with a cache goes on from there`()
        async throws
    {
        try await Self.withNodes { a, b, pair, path in
            let points =
                #""p":[{"_type":"point","lat":1,"lon":2},{"_type":"point","lat":-90,"lon":180}]"#
            for number in 0..<100 {
                let text = "{\"n\":1.0,\(points),\"expires\":\(number)}"
                try await a.value(
                    "object.put",
                    #"{"bucket":"b\#(number % 3)x","id":"o\#(number)","object":\#(text)}"#)
            }
            try await b.value("object.delete", #"{"bucket":"b0x","id":"o0"}"#)
            for name in ["fresh", "fresh"] {
                let node = try NodePair.node(name, .init(path: path))
                #expect(node.statistics().objects == 99 && node.statistics().points == 198)
                #expect(try node.check(until: nil).problems == [])
                try node.close()
                try await a.value("object.put", #"{"bucket":"b0x","id":"o0","object":{}}"#)
                try await a.value("object.delete", #"{"bucket":"b0x","id":"o0"}"#)
            }
            #expect(try pair.check(until: nil).problems == [])
        }
    }

    @Test func `a node whose changes PostgreSQL has lost is rebuilt, and so are the others`()
        async throws
    {
        try await Self.withNodes { a, b, pair, path in
            try await a.value("object.put", Self.put("kept", 1))
            _ = try await b.call("object.get", #"{"bucket":"shops","id":"kept"}"#)
            try Self.run(
                ["CREATE TABLE before AS SELECT max(last_change) AS change FROM batch"], at: path)
            try await a.value("object.put", Self.put("lost", 2))
            // What a standby that lagged has when it is promoted.
            try Self.run(
                [
                    "BEGIN", "DELETE FROM object WHERE id = 'lost'",
                    "DELETE FROM batch WHERE last_change > (SELECT change FROM before)", "COMMIT",
                ], at: path)
            let areRebuilt = try await waited {
                [pair.writing, pair.reading].allSatisfy {
                    $0.statistics().cluster!.rebuilds > 0 && $0.isReady
                }
            }
            #expect(areRebuilt)
            for client in [a, b] {
                let refusal = try await client.refusal(
                    "object.get", #"{"bucket":"shops","id":"lost"}"#)
                #expect(refusal?.errorCode == "OBJECT_NOT_FOUND")
            }
            try await b.value("object.put", Self.put("new", 3))
            let found = try await b.value("object.get", #"{"bucket":"shops","id":"new"}"#)
            #expect(found["n"]?.number?.exactInt == 3)
            #expect(try pair.check(until: nil).problems == [])
        }
    }

    @Test func `after a day in which nobody has written, nodes go on from their states`()
        async throws
    {
        try await Self.withNodes { a, b, pair, path in
            for id in ["o1", "o2"] { try await a.value("object.put", Self.put(id, 1)) }
            try await b.value("object.get", #"{"bucket":"shops","id":"o2"}"#)
            try Self.run(["UPDATE batch SET at = at - interval '1 day'"], at: path)
            try await b.value("object.put", Self.put("o3", 1))
            let tables = try ClusterTables(
                try NodePair.address(of: path), answerTime: hangTime, clock: ServiceClock())
            _ = try tables.forget(tombstonesBefore: 0, requestsBefore: 0, atMost: 1_000)
            // The state after o2 was left only now, so a node that is a little behind goes on from it.
            let known = try tables.run([PostgresStatement("SELECT count(*) FROM batch")])
            #expect(known[0].int(0, 0) == 2)
            try await a.value("object.put", Self.put("o4", 1))
            try await b.value("object.get", #"{"bucket":"shops","id":"o4"}"#)
            for node in [pair.writing, pair.reading] {
                #expect(node.statistics().cluster?.rebuilds == 0)
            }
        }
    }

    @Test func `a difference between a node and PostgreSQL is found`() async throws {
        try await Self.withNodes { a, _, pair, path in
            try await a.value("object.put", Self.put("o1", 1))
            try await a.value("object.put", Self.put("o2", 1))
            try Self.run(["DELETE FROM object WHERE id = 'o1'"], at: path)
            let problems = try pair.writing.check(until: nil).problems
            #expect(
                problems == ["bucket shops: PostgreSQL has 1 objects, this node has 2"])
        }
    }

    @Test(arguments: [
        ("postgresql:///geo", [[]]),
        ("postgresql://db1/geo", [["host=db1"]]),
        ("postgresql://db1:1,db2:2/geo", [["host=db1", "port=1"], ["host=db2", "port=2"]]),
        ("postgresql://db1,db2/geo?port=7", [["host=db1", "port=7"], ["host=db2", "port=7"]]),
        (
            "postgresql:///geo?host=a,b&hostaddr=1.1.1.1,2.2.2.2",
            [["host=a", "hostaddr=1.1.1.1"], ["host=b", "hostaddr=2.2.2.2"]]
        ),
    ])
    func `the servers of an address are tried one by one`(url: String, servers: [[String]]) throws {
        let address = try PostgresAddress(url: url, schema: "geobucket")
        let found = address.servers
        #expect(found.map { $0.map { "\($0.keyword)=\($0.value)" } } == servers)
    }

    @Test func `a server that accepts a connection and ends it does not keep a node from the next`()
        throws
    {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &name) { name in
            name.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                #expect(bind(listener, name, length) == 0 && listen(listener, 8) == 0)
                #expect(getsockname(listener, name, &length) == 0)
            }
        }
        Thread.detachNewThread {
            while case let accepted = accept(listener, nil, nil), accepted >= 0 { close(accepted) }
        }
        defer { shutdown(listener, Int32(SHUT_RDWR)) }
        let port = UInt16(bigEndian: name.sin_port)
        let there = PostgresServer.shared!.url.replacing("host=", with: "host=127.0.0.1,")
        let url = "\(there)&port=\(port),5432"
        _ = try PostgresConnection(
            PostgresAddress(url: url, schema: "geobucket"), clock: ServiceClock())
        let last = "\(there.replacing(#/,[^&]*/#, with: ",127.0.0.1"))&port=\(port),\(port)"
        #expect(throws: PostgresFailure.self) {
            try PostgresConnection(
                PostgresAddress(url: last, schema: "geobucket"), clock: ServiceClock())
        }
    }

    @Test(arguments: [
        ("postgresql://me:secret@db1,db2:5433/geo?x=y", "geobucket", false),
        ("postgresql://me:secret@db1:5433/geo", "Geo", false),
        ("postgresql://me:secret@db1:5433/geo", "geo;drop", false),
        ("postgresql://me:secret@db1:5433/geo", "1geo", false),
        ("postgresql://me:secret@db1:5433/geo", "geo_1", true),
        ("postgres:///geo?host=/run/pg&password=secret", "geo", true),
    ])
    func `an address says what is wrong with it, and never its password`(
        url: String, schema: String, isRight: Bool
    ) {
        do throws(PostgresFailure) {
            let address = try PostgresAddress(url: url, schema: schema)
            #expect(isRight && !address.summary.contains("secret"))
            #expect(address.summary.contains("geo"))
        } catch {
            #expect(!isRight && !error.description.contains("secret"), "\(error)")
        }
    }
}
