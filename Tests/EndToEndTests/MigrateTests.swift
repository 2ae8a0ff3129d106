import Foundation
import GRDB
import GeoBucketClient
import JSONText
import ServiceDesk
import TestSupport
import Testing

/// `geobucket migrate`: a store moves from a file into PostgreSQL and back, and stays the same.
@Suite(
    .timeLimit(.minutes(10)), .needsPostgreSQL)
struct MigrateTests {
    private static let pageParams = #"{"bucket":"shops","bestEffortLimit":7,"fields":["n"]"#
    private static let keyed =
        #"{"bucket":"shops","id":"keyed","object":{"n":-1},"requestKey":"once"}"#

    /// Fills a new store with one of everything.
    ///
    /// - Returns: a page's key, and the answer to a write that was done under a request key.
    private static func fill(_ store: String) async throws -> (key: String, answer: String) {
        let (token, grant) = (Token(), try Grant(principal: "alice", role: .write))
        let access = AccessControl(tokens: LoginRules.file(["alice": token], ["alice": grant]))
        try await TestService.with(path: store, access: access) { service in
            try await service.connection.logIn(token: token.text)
            try await service.call(
                "object.create",
                #"{"bucket":"users/alice/notes","dataType":"text/plain","object":{"t":"Ö\n1.0"}}"#)
        }
        return try await TestService.with(path: store) { service in
            for number in 0..<30 {
                let object = #"{"n":\#(number),"at":\#(point(1, Double(number)))}"#
                let more = number == 3 ? #","expiresAt":4000000000000"# : ""
                _ = try await service.put("o\(number)", object, in: "shops", more: more)
            }
            _ = try await service.put("o5", #"{"n":1.50,"many":[\#(point(3, 4))]}"#, in: "shops")
            try await service.call("object.delete", #"{"bucket":"shops","id":"o6"}"#)
            _ = try await service.put("gone", "{}", in: "emptied")
            try await service.call("object.delete", #"{"bucket":"emptied","id":"gone"}"#)
            let answer = try await service.text("object.put", Self.keyed)
            let page = try await service.call("bucket.query", Self.pageParams + "}")
            return (try #require(page.nextPaginationKey), answer)
        }
    }

    /// Everything that a store's file holds, except what a start derives from it.
    private static func contents(_ path: String) throws -> [String] {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.read { db in
            try [
                "SELECT name FROM bucket ORDER BY name",
                "SELECT number, path FROM geo_field ORDER BY number",
                """
                SELECT creation, name, id, change, version, created, modified, object.owner, data_type,
                    hex(points), document, checksum
                FROM object JOIN bucket ON number = bucket ORDER BY creation
                """,
                "SELECT creation, time FROM expiry ORDER BY creation",
                "SELECT change, creation, bucket, id, deleted FROM tombstone ORDER BY change",
                "SELECT key, time, hex(digest), hex(answer) FROM request ORDER BY number",
                // A copy begins a history of its own.
                """
                SELECT name, hex(value) FROM setting WHERE name NOT IN ('columns', 'history')
                    AND name NOT LIKE 'age mark %'
                ORDER BY name
                """,
            ].flatMap { try Row.fetchAll(db, sql: $0).map(\.description) }
        }
    }

    private static func migrate(
        _ source: String, _ target: String, _ schema: String, _ folder: String
    ) async throws -> (status: Int32, output: String, errors: String) {
        try await Program.run(
            ["migrate", "--from", source, "--to", target, "--postgres-schema", schema],
            folder: folder)
    }

    private static func schema() -> String {
        "migrate_" + UUID().uuidString.lowercased().replacing("-", with: "_")
    }

    @Test func `A store is the same in PostgreSQL, and the same again in a file`() async throws {
        let url = PostgresServer.shared!.url
        try await withTemporaryFolder { folder in
            let (first, second) = (folder + "/first.sqlite", folder + "/second.sqlite")
            let schema = Self.schema()
            let (key, answer) = try await Self.fill(first)
            let before = try Self.contents(first)
            #expect(before.count > 40)
            let there = try await Self.migrate(first, url, schema, folder)
            #expect(there.status == 0, "\(there.errors)")
            #expect(
                there.output
                    == "31 objects in 3 buckets, 2 deletions and 1 request key: copied and compared\n"
            )
            let back = try await Self.migrate(url, second, schema, folder)
            #expect(back.status == 0, "\(back.errors)")
            #expect(back.output == there.output)
            #expect(try Self.contents(first) == before)
            #expect(try Self.contents(second) == before)
            try await Program.serve(
                store: url, folder: folder,
                flags: ["--cache", folder + "/cache", "--postgres-schema", schema]
            ) { _, port in
                try await LineConnection.with(host: "127.0.0.1", port: port) { node in
                    let page = try JSONValue(
                        parsing: try await node.call(
                            "bucket.query",
                            Array((Self.pageParams + #","paginationKey":"\#(key)"}"#).utf8)))
                    #expect(page.ids.count == 7)
                    let again = try await node.call("object.put", Array(Self.keyed.utf8))
                    // A node's answer also tells the change to ask other nodes for.
                    let known = answer.dropLast() + #","change":"#
                    #expect(String(decoding: again, as: UTF8.self).hasPrefix(known))
                    let check = try JSONValue(
                        parsing: try await node.call("store.check", Array("{}".utf8)))
                    #expect(check["problems"]?.array == [])
                    #expect(check["objects"] == .int(31))
                }
            }
        }
    }

    @Test func `What cannot be copied is refused, and nothing is changed`() async throws {
        let url = PostgresServer.shared!.url
        try await withTemporaryFolder { folder in
            let (store, other) = (folder + "/store.sqlite", folder + "/other.sqlite")
            let schema = Self.schema()
            func refuses(
                _ source: String, _ target: String, _ words: String, status: Int32 = 1
            ) async throws {
                let run = try await Self.migrate(source, target, schema, folder)
                #expect(run.status == status && run.output.isEmpty, "\(run)")
                #expect(run.errors.contains(words), "\(run.errors)")
            }
            try await refuses(store, url, "does not exist")
            _ = try await Self.fill(store)
            try await refuses(store, other, "postgresql://", status: 2)
            try await Program.serve(store: store, folder: folder) { _, _ in
                try await refuses(store, url, "in use by another process")
            }
            try FileManager.default.copyItem(atPath: store, toPath: other)
            let queue = try DatabaseQueue(path: other)
            try await queue.write {
                try $0.execute(sql: "UPDATE object SET document = '{}' WHERE creation = 9")
            }
            try queue.close()
            try await refuses(other, url, "change 9")
            // So the tables are still empty.
            let run = try await Self.migrate(store, url, schema, folder)
            #expect(run.status == 0, "\(run.errors)")
            try await refuses(store, url, "is not empty")
            try await refuses(url, other, "is there already")
            let left = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(!left.contains { $0.contains("partial") })
        }
    }
}
