import Foundation
import GRDB
import JSONText
import TestSupport
import Testing

/// `geobucket restore`: a store out of a backup.
@Suite(.timeLimit(.minutes(10))) struct RestoreTests {
    private static func put(_ id: String) -> String {
        #"{"bucket":"b1","id":"\#(id)","object":{}}"#
    }

    private static func names(_ folder: String, _ prefix: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { $0.hasPrefix(prefix) }.sorted()
    }

    /// Serves a store, and ends the service by a signal.
    private static func serve(
        _ store: String, _ folder: String, signal: Int32 = SIGTERM,
        _ body: (WatchClient, Int) async throws -> Void
    ) async throws {
        try await Program.serve(store: store, folder: folder) { process, port in
            try await WatchClient.with(port: port) { try await body($0, port) }
            process.signal(signal)
            _ = await process.end()
        }
    }

    private static func ids(_ client: WatchClient) throws -> [String] {
        try client.call("bucket.query", #"{"bucket":"b1"}"#).ids
    }

    @Test func `Who saw what a backup does not have gets everything anew, and others go on`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let (store, backup) = (folder + "/store.sqlite", folder + "/backup.sqlite")
            var tokens: [String] = []
            try await Self.serve(store, folder) { client, port in
                func note(_ id: String) throws {
                    _ = try client.call("object.put", Self.put(id))
                    let watch = try client.start()
                    try client.sync(watch)
                    tokens.append(try #require(client.resume(watch)))
                }
                try note("before")
                _ = try client.call("object.put", Self.put("also-before"))
                let run = try await Program.run(
                    ["backup", backup, "--server", "127.0.0.1:\(port)"], folder: folder)
                #expect(run.status == 0, "\(run.errors)")
                try note("lost")
            }
            let run = try await Program.run(["restore", backup, store, "--force"], folder: folder)
            #expect(run.status == 0, "\(run.errors)")
            #expect(
                run.output
                    == "2 objects with 0 points in 1 bucket: restored to \(store) and verified\n")
            try await Self.serve(store, folder) { client, _ in
                // Takes the number of the change that is lost.
                _ = try client.call("object.put", Self.put("new"))
                for (token, isResumed) in zip(tokens, [true, false]) {
                    let answer = try client.call(
                        "watch.start",
                        queryParams(#"{"type":"all"}"#, "", #""resume":"\#(token)""#, "b1"))
                    #expect(answer["resumed"]?.bool == isResumed)
                    let watch = try #require(answer["watch"]?.string)
                    try client.sync(watch)
                    let expected = ["also-before", "new"]
                    if isResumed {
                        #expect(client.events(watch) == expected.map { "enter \($0)" })
                    }
                }
                #expect(try Self.ids(client) == ["before", "also-before", "new"])
            }
        }
    }

    @Test func `A restoration begins a history of its own, before any start`() async throws {
        try await withTemporaryFolder { folder in
            let (store, backup) = (folder + "/store.sqlite", folder + "/backup.sqlite")
            try await Self.serve(backup, folder) { _, _ in }
            func history(_ path: String) async throws -> Data {
                let queue = try DatabaseQueue(path: path)
                let data = try await queue.read {
                    try Data.fetchOne($0, sql: "SELECT value FROM setting WHERE name = 'history'")
                }
                try queue.close()
                return try #require(data)
            }
            let run = try await Program.run(["restore", backup, store], folder: folder)
            #expect(run.status == 0, "\(run.errors)")
            let (old, new) = (try await history(backup), try await history(store))
            #expect(new.starts(with: old) && new.count > old.count)
        }
    }

    @Test
    func `A restoration never overwrites, and with --force keeps what was there, log and all`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let (store, backup) = (folder + "/store.sqlite", folder + "/backup.sqlite")
            try await Self.serve(backup, folder) { client, _ in
                _ = try client.call("object.put", Self.put("backup"))
            }
            // Its last writes are in the log alone.
            try await Self.serve(store, folder, signal: SIGKILL) { client, port in
                _ = try client.call("object.put", Self.put("present"))
                for force in [[], ["--force"]] {
                    let run = try await Program.run(
                        ["restore", backup, store] + force, folder: folder)
                    #expect(run.status == 1, "\(run.output)")
                    #expect(
                        run.errors.contains(force == [] ? "is there already" : "in use by another"),
                        "\(run.errors)")
                }
            }
            let before = try Self.names(folder, "store.sqlite")
            let refused = try await Program.run(["restore", backup, store], folder: folder)
            #expect(refused.status == 1)
            #expect(try Self.names(folder, "store.sqlite") == before)
            let run = try await Program.run(["restore", backup, store, "--force"], folder: folder)
            #expect(run.status == 0, "\(run.errors)")
            let old = try #require(run.errors.firstMatch(of: /there is now (\S+)/)?.1)
            for (path, ids) in [(store, ["backup"]), (String(old), ["present"])] {
                try await Self.serve(path, folder) { client, _ in
                    let found = try Self.ids(client)
                    #expect(found == ids)
                }
            }
            let left = try Self.names(folder, "store.sqlite")
            #expect(!left.contains { $0.contains("partial") }, "\(left)")
        }
    }

    @Test func `The log of a store that is away is not mixed with a backup`() async throws {
        try await withTemporaryFolder { folder in
            let (store, backup) = (folder + "/store.sqlite", folder + "/backup.sqlite")
            try await Self.serve(backup, folder) { client, _ in
                _ = try client.call("object.put", Self.put("backup"))
            }
            try await Self.serve(store, folder, signal: SIGKILL) { client, _ in
                _ = try client.call("object.put", Self.put("present"))
            }
            try FileManager.default.removeItem(atPath: store)
            let refused = try await Program.run(["restore", backup, store], folder: folder)
            #expect(refused.status == 1 && refused.errors.contains("the log of a store"))
            let run = try await Program.run(["restore", backup, store, "--force"], folder: folder)
            #expect(run.status == 0, "\(run.errors)")
            try await Self.serve(store, folder) { client, _ in
                let found = try Self.ids(client)
                #expect(found == ["backup"])
            }
        }
    }

    @Test func `What is damaged or no backup is not restored`() async throws {
        try await withTemporaryFolder { folder in
            let (store, backup) = (folder + "/store.sqlite", folder + "/backup.sqlite")
            try await Self.serve(backup, folder) { client, _ in
                _ = try client.call("object.put", Self.put("one"))
            }
            let queue = try DatabaseQueue(path: backup)
            try await queue.writeWithoutTransaction {
                try $0.execute(sql: "UPDATE object SET document = '{\"n\":1}'")
            }
            try queue.close()
            try Data("no store".utf8).write(to: URL(fileURLWithPath: folder + "/text"))
            for (source, reason) in [
                (backup, "the row is damaged"), (folder + "/text", "not a SQLite database"),
                (folder + "/none", "does not exist"), (folder, "is a folder"),
            ] {
                let run = try await Program.run(["restore", source, store], folder: folder)
                #expect(run.status == 1 && run.errors.contains(reason), "\(run.errors)")
                #expect(try Self.names(folder, "store.sqlite") == [])
            }
            let usage = try await Program.run(
                ["restore", backup, "postgresql:///geobucket"], folder: folder)
            #expect(usage.status == 2 && usage.errors.contains("migrate"))
        }
    }

    @Test(arguments: UpgradeTests.schemas)
    func `A backup of an earlier schema is restored to the present one`(schema: Int) async throws {
        try await withTemporaryFolder { folder in
            let source = folder + "/old.sqlite"
            try FileManager.default.copyItem(
                atPath: UpgradeTests.path(of: schema), toPath: source)
            let before = FileManager.default.contents(atPath: source)
            let run = try await Program.run(
                ["restore", source, folder + "/store.sqlite"], folder: folder)
            #expect(run.status == 0, "\(run.errors)")
            let check = try await Program.run(
                ["check", "--store", folder + "/store.sqlite"], folder: folder)
            #expect(check.status == 0, "\(check.errors)")
            #expect(FileManager.default.contents(atPath: source) == before)
        }
    }
}
