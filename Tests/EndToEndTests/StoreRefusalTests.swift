import Foundation
import GRDB
import TestSupport
import Testing

/// Files that `geobucket serve` must not touch: it says why, exits with 1, leaves every byte.
@Suite struct StoreRefusalTests {
    /// Runs the service on a file that `make` has written and expects it to be refused.
    private static func refuses(
        saying words: [String], _ make: (_ path: String, _ folder: String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            try await make(path, folder)
            let before = try #require(FileManager.default.contents(atPath: path))
            let run = try await Program.run(
                ["serve", "--listen", "127.0.0.1:0", "--store", path], folder: folder)
            #expect(run.status == 1)
            #expect(run.output == "")
            for word in words {
                #expect(run.errors.contains(word), "\(run.errors) does not say \"\(word)\"")
            }
            #expect(FileManager.default.contents(atPath: path) == before, "the file was changed")
        }
    }

    /// A store of our own, closed, then changed by `sql`.
    private static func store(_ path: String, _ folder: String, _ sql: [String]) async throws {
        try await Program.serve(store: path, folder: folder) { process, _ in
            process.signal(SIGTERM)
            #expect(await process.end() == 0)
        }
        try Self.database(path, sql)
    }

    private static func database(_ path: String, _ sql: [String]) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { db in
            for statement in sql { try db.execute(sql: statement) }
        }
        try queue.close()
    }

    @Test func `a file that is no database`() async throws {
        try await Self.refuses(saying: ["store.sqlite", "not a SQLite database"]) { path, _ in
            let text = String(repeating: "These are my notes, not a database.\n", count: 400)
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        }
    }

    @Test func `a short file that is no database`() async throws {
        try await Self.refuses(saying: ["store.sqlite", "not a SQLite database"]) { path, _ in
            try Data("notes".utf8).write(to: URL(fileURLWithPath: path))
        }
    }

    @Test(arguments: ["DELETE", "WAL"])
    func `another program's database`(journal: String) async throws {
        try await Self.refuses(saying: ["store.sqlite", "another program"]) { path, _ in
            try Self.database(
                path,
                [
                    "PRAGMA journal_mode = \(journal)", "CREATE TABLE notes (text TEXT)",
                    "INSERT INTO notes VALUES ('mine')",
                ])
        }
    }

    @Test func `a store of a later schema version`() async throws {
        try await Self.refuses(saying: ["store.sqlite", "newer"]) { path, folder in
            try await Self.store(path, folder, ["PRAGMA user_version = 99"])
        }
    }

    @Test func `a store with a migration that is not known here`() async throws {
        try await Self.refuses(saying: ["store.sqlite", "newer"]) { path, folder in
            try await Self.store(
                path, folder,
                ["INSERT INTO grdb_migrations (identifier) VALUES ('of times to come')"])
        }
    }

    @Test func `a store that another process serves`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            try await Program.serve(store: path, folder: folder) { _, _ in
                let run = try await Program.run(
                    ["serve", "--listen", "127.0.0.1:0", "--store", path], folder: folder)
                #expect(run.status == 1)
                #expect(run.errors.contains("in use by another process"), "\(run.errors)")
                #expect(run.output == "")
            }
        }
    }

    @Test func `a folder that does not exist`() async throws {
        try await withTemporaryFolder { folder in
            let run = try await Program.run(
                ["serve", "--listen", "127.0.0.1:0", "--store", folder + "/missing/store.sqlite"],
                folder: folder)
            #expect(run.status == 1)
            #expect(run.errors.contains("cannot be opened"), "\(run.errors)")
        }
    }
}
