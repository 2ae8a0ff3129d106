import EmbeddedBackend
import Foundation
import GRDB
import GeoBucketClient
import JSONText
import Logging
import Objects
import TestSupport
import Testing

/// Bytes that change on the disk by themselves: what is served is what was written, or an error.
@Suite(.timeLimit(.minutes(20))) struct DamageTests {
    private static func database(_ store: String, _ sql: String) throws {
        let queue = try DatabaseQueue(path: store)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    /// A store of three objects, one of which `sql` damages.
    private static func withDamage(
        _ sql: String,
        _ body: @escaping @Sendable (TestService, _ store: String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let store = folder + "/store.sqlite"
            try await TestService.with(path: store) { service in
                for id in ["o1", "o2", "o3"] {
                    _ = try await service.put(
                        id, #"{"n":7,"at":\#(point(1, 2))}"#, more: #","expiresAt":9e15"#)
                }
            }
            try database(store, sql)
            try await TestService.with(path: store) { try await body($0, store) }
        }
    }

    /// One for each thing that a row says, where it stays one that might have been written.
    @Test(arguments: [
        "UPDATE object SET document = replace(document, '7', '8') WHERE id = 'o2'",
        "UPDATE object SET version = 3 WHERE id = 'o2'",
        "UPDATE object SET created = created - 1 WHERE id = 'o2'",
        "UPDATE object SET modified = modified + 1 WHERE id = 'o2'",
        "UPDATE object SET owner = 'eve' WHERE id = 'o2'",
        "UPDATE object SET data_type = '' WHERE id = 'o2'",
        "UPDATE object SET change = change + 0, points = NULL WHERE id = 'o2'",
        "UPDATE object SET checksum = checksum + 1 WHERE id = 'o2'",
        "UPDATE expiry SET time = time - 1 WHERE creation = 2",
        "DELETE FROM expiry WHERE creation = 2",
    ])
    func `A row that is otherwise than it was written is an error, told by check`(sql: String)
        async throws
    {
        try await Self.withDamage(sql) { service, store in
            let object = #"{"bucket":"b1","id":"o2"}"#
            #expect(try await service.outcome("object.get", object) == "UNDEFINED_ERROR")
            for method in ["bucket.query", "bucket.export"] {
                #expect(
                    try await service.outcome(method, #"{"bucket":"b1"}"#) == "UNDEFINED_ERROR")
            }
            for id in ["o1", "o3"] {
                #expect(try await service.get(id)["n"] == .int(7))
            }
            let problems = try StoreCheck.run(path: store).problems
            #expect(problems.contains { $0.contains("bucket b1, object o2: the row is damaged") })
            let online = try await service.call("store.check")["problems"]?.array ?? []
            #expect(
                online.contains { $0.string?.contains("object o2: the row is damaged") == true })
        }
    }

    @Test(arguments: [
        ("UPDATE object SET id = 'o9' WHERE id = 'o2'", "o9"),
        ("UPDATE bucket SET name = 'b2'", "o2"),
    ])
    func `An object that is found under another name is an error`(sql: String, id: String)
        async throws
    {
        try await Self.withDamage(sql) { service, store in
            for bucket in ["b1", "b2"] {
                let outcome = try await service.outcome(
                    "object.get", #"{"bucket":"\#(bucket)","id":"\#(id)"}"#)
                #expect(outcome == "UNDEFINED_ERROR" || outcome == "OBJECT_NOT_FOUND")
            }
            let problems = try StoreCheck.run(path: store).problems
            #expect(problems.contains { $0.contains("object \(id): the row is damaged") })
        }
    }

    @Test func `A damaged object is not changed, but can be deleted`() async throws {
        let sql = "UPDATE object SET document = replace(document, '7', '8') WHERE id = 'o2'"
        try await Self.withDamage(sql) { (service, _) async throws in
            for (method, params) in [
                ("object.put", #","id":"o2","object":{}"#),
                ("object.patch", #","id":"o2","object":{}"#),
                ("object.putMany", #","objects":[{"_id":"o1"},{"_id":"o2"}]"#),
                ("object.delete", #","id":"o2","ifVersion":1"#),
            ] {
                #expect(
                    try await service.outcome(method, #"{"bucket":"b1"\#(params)}"#)
                        == "UNDEFINED_ERROR", "\(method)")
            }
            // All or nothing, and nobody else's fault.
            #expect(try await service.get("o1")["_version"] == .int(1))
            #expect(try await service.putOutcome("o4", "{}") == "accepted")
            #expect(
                try await service.outcome("object.delete", #"{"bucket":"b1","id":"o2"}"#)
                    == "accepted")
            #expect(try await service.putOutcome("o2", "{}") == "accepted")
            #expect(try await service.call("store.check")["problemCount"] == .int(0))
        }
    }

    @Test func `A time of expiry that is damaged removes nothing`() async throws {
        try await Self.withDamage("UPDATE expiry SET time = 1 WHERE creation = 2") {
            service, store in
            // Every second what has expired is removed: another object shows when.
            _ = try await service.put("soon", "{}", more: #","expiresAt":1"#)
            while try await service.call("server.stats")["objects"]?.int != 3 {
                try await Task.sleep(for: .milliseconds(20))
            }
            let problems = try StoreCheck.run(path: store).problems
            #expect(problems.contains { $0.contains("object o2: the row is damaged") })
        }
    }

    // MARK: Bytes

    /// What a store has, as it is served; nil for what is refused.
    private static func served(_ store: String, _ ids: [String: [String]]) throws -> [String:
        String?]?
    {
        var served: [String: String?] = [:]
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        guard let backend = try? SQLiteBackend(path: store, limits: Limits(), logger: logger)
        else { return nil }
        defer { try? backend.close() }
        for (bucket, ids) in ids {
            for id in ids {
                var writer = JSONWriter()
                let name = try BucketName(bucket)
                let isServed =
                    (try? backend.get(ObjectID(id, at: "id"), in: name, into: &writer)) != nil
                served["\(bucket)/\(id)"] =
                    .some(isServed ? String(decoding: writer.bytes, as: UTF8.self) : nil)
            }
        }
        return served
    }

    private static func seeds() -> [UInt64] {
        if let text = ProcessInfo.processInfo.environment["GEOBUCKET_DAMAGE_SEED"] {
            return [UInt64(text)!]
        }
        return [1, 2, 3, .random(in: 4 ... .max)]
    }

    @Test(arguments: seeds())
    func `With any one byte changed no other document is served, and check tells what is missing`(
        seed: UInt64
    ) async throws {
        var random = SplitMix64(seed: seed)
        let rounds =
            ProcessInfo.processInfo.environment["GEOBUCKET_DAMAGE_ROUNDS"]
            .flatMap(Int.init) ?? 100
        try await withTemporaryFolder { folder in
            let (whole, store) = (folder + "/whole.sqlite", folder + "/store.sqlite")
            try await TestService.with(path: whole) { service in
                for number in 0..<30 {
                    let object =
                        #"{"n":\#(number * 31),"s":"\#(String(repeating: "ä", count: number * 9))","at":\#(point(Double(number), 2))}"#
                    _ = try await service.put(
                        "object-\(number)", object, in: number < 25 ? "shops" : "users/al/notes",
                        more: number.isMultiple(of: 5) ? #","expiresAt":9e15"# : "")
                }
                for number in 0..<5 {
                    _ = try await service.put(
                        "object-\(number)", #"{"new":\#(number)}"#, in: "shops")
                }
            }
            let ids = [
                "shops": (0..<25).map { "object-\($0)" },
                "users/al/notes": (25..<30).map { "object-\($0)" },
            ]
            let expected = try #require(try Self.served(whole, ids))
            let bytes = try #require(FileManager.default.contents(atPath: whole))
            // Most of a small file is empty: what is not is damaged.
            let places = bytes.indices.filter { bytes[$0] != 0 }
            var (noticed, refused) = (0, 0)
            for _ in 0..<rounds {
                let place = places.randomElement(using: &random)!
                var damaged = bytes
                damaged[place] ^= UInt8.random(in: 1...255, using: &random)
                for suffix in ["", "-wal", "-shm"] {
                    try? FileManager.default.removeItem(atPath: store + suffix)
                }
                try damaged.write(to: URL(fileURLWithPath: store))
                guard let found = try Self.served(store, ids) else {
                    refused += 1
                    continue
                }
                let what = "seed \(seed), byte \(place): \(bytes[place]) became \(damaged[place])"
                for (id, text) in found {
                    if let text { #expect(text == expected[id], "\(what): \(id)") }
                }
                if found != expected {
                    noticed += 1
                    let report = try? StoreCheck.run(path: store)
                    #expect(report?.problems != [], "\(what): \(found.filter { $1 == nil })")
                }
            }
            print(
                "damage, seed \(seed): \(rounds) bytes, \(refused) stores refused, \(noticed) damaged"
            )
        }
    }
}
