import Foundation
import GRDB
import GeoBucketClient
import TestSupport
import Testing

/// `geobucket serve --backup-to`: backups that a service makes by itself.
@Suite(.timeLimit(.minutes(10))) struct ScheduledBackupTests {
    private static func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { !$0.hasPrefix(".") }.sorted()
    }

    private static func makeFolder(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    private static func put(_ id: String, _ port: Int, _ folder: String) async throws {
        let put = try await Program.run(
            [
                "call", "object.put", #"{"bucket":"b1","id":"\#(id)","object":{}}"#, "--server",
                "127.0.0.1:\(port)",
            ], folder: folder)
        #expect(put.status == 0, "\(put.errors)")
    }

    @Test func `Backups are verified, named by their time, thinned, and told in metrics`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let backups = folder + "/backups"
            try Self.makeFolder(backups)
            // Not the service's own, whatever their names suggest.
            let others = [
                "notes.txt", "other-20200101T000000Z.sqlite", "shops-2020.sqlite",
                "shops-20200101T000000Z.sqlite.gz",
            ]
            for name in others { try Data().write(to: URL(fileURLWithPath: "\(backups)/\(name)")) }
            let old = "shops-20200101T000000Z.sqlite"
            try Data().write(to: URL(fileURLWithPath: "\(backups)/\(old)"))
            try await Program.serve(
                store: folder + "/shops.sqlite", folder: folder,
                flags: [
                    "--backup-to", backups, "--backup-every", "1s", "--backup-keep", "3s:1s",
                    "--http", "127.0.0.1:0",
                ]
            ) { process, port in
                try await Self.put("one", port, folder)
                let before = process.standardError.ranges(of: "backup made and verified").count
                try await process.waitForError("backup made and verified", times: before + 6)
                let made = try Self.names(backups).filter { $0.hasSuffix("Z.sqlite") }
                    .filter { !others.contains($0) }
                #expect((2...5).contains(made.count), "\(made)")
                #expect(!made.contains(old))
                let check = try await Program.run(
                    ["check", "--store", "\(backups)/\(try #require(made.last))"], folder: folder)
                #expect(check.output == "1 object with 0 points in 1 bucket: no problems\n")
                let http = try GatewayRules.port(named: "http", in: process.standardOutput)
                let text = try HTTPAnswer(port: http, path: "/metrics").body
                #expect(text.contains(#"geobucket_backups_total{outcome="failed"} 0"#))
                let stamp = try #require(
                    text.firstMatch(of: /geobucket_backup_timestamp_seconds (\d+)/)?.1)
                #expect(abs(Int(stamp)! - Int(Date().timeIntervalSince1970)) < 600)
                #expect(text.contains(/geobucket_backup_bytes [1-9]/))
                process.signal(SIGTERM)
                let status = await process.end()
                #expect(status == 0, "\(process.standardError)")
            }
            let left = try Self.names(backups)
            #expect(others.allSatisfy(left.contains), "\(left)")
            #expect(!left.contains { $0.contains("partial") }, "\(left)")
        }
    }

    @Test func `A start makes a backup only when one is due`() async throws {
        try await withTemporaryFolder { folder in
            let backups = folder + "/backups"
            try Self.makeFolder(backups)
            for run in 0..<2 {
                try await Program.serve(
                    store: folder + "/shops.sqlite", folder: folder,
                    flags: ["--backup-to", backups]
                ) { process, port in
                    if run == 0 { try await process.waitForError("backup made and verified") }
                    process.signal(SIGTERM)
                    #expect(await process.end() == 0)
                }
                #expect(try Self.names(backups).count == 1)
            }
        }
    }

    @Test func `A backup of a damaged store is not kept, and the failure is told`() async throws {
        try await withTemporaryFolder { folder in
            let (store, backups) = (folder + "/shops.sqlite", folder + "/backups")
            try Self.makeFolder(backups)
            try await Program.serve(store: store, folder: folder) { process, port in
                try await Self.put("one", port, folder)
                process.signal(SIGTERM)
                #expect(await process.end() == 0)
            }
            let queue = try DatabaseQueue(path: store)
            try await queue.writeWithoutTransaction {
                try $0.execute(sql: "UPDATE object SET document = '{\"n\":1}'")
            }
            try queue.close()
            try await Program.serve(
                store: store, folder: folder,
                flags: ["--backup-to", backups, "--http", "127.0.0.1:0"]
            ) { process, _ in
                try await process.waitForError("no backup was made")
                #expect(process.standardError.contains("the row is damaged"))
                #expect(try Self.names(backups) == [])
                let http = try GatewayRules.port(named: "http", in: process.standardOutput)
                let text = try HTTPAnswer(port: http, path: "/metrics").body
                #expect(text.contains(#"geobucket_backups_total{outcome="failed"} 1"#))
                #expect(text.contains("geobucket_backup_timestamp_seconds 0"))
            }
        }
    }

    @Test func `Two services do not make their backups under the same names`() async throws {
        try await withTemporaryFolder { folder in
            let flags = ["--backup-to", folder]
            try await Program.serve(store: folder + "/shops.sqlite", folder: folder, flags: flags) {
                _, _ in
                try Self.makeFolder(folder + "/b")
                let second = try await Program.run(
                    ["serve", "--listen", "127.0.0.1:0", "--store", folder + "/b/shops.sqlite"]
                        + flags, folder: folder)
                #expect(second.status == 1)
                #expect(second.errors.contains("another service makes backups"))
            }
        }
    }

    @Test(
        arguments: [
            (["--backup-every", "6h"], 2, "backupEvery needs --backup-to"),
            (["--backup-keep", "all"], 2, "backupKeep needs --backup-to"),
            (["--backup-to", "/nowhere"], 1, "/nowhere takes no files"),
            (["--backup-to", ""], 2, "the path is empty"),
            (
                ["--backup-to", "/tmp", "--backup-every", "6"], 2,
                #"--backup-every: "6" is no time"#
            ),
            (
                ["--backup-to", "/tmp", "--backup-every", "1ms"], 2,
                #""1ms" is no time of a second"#
            ),
            (["--backup-to", "/tmp", "--backup-keep", "1h:1d"], 2, "is neither all nor SPAN:STEP"),
            (
                ["--backup-to", "/tmp", "--store", "postgresql:///x", "--cache", "/tmp/none"], 2,
                "make backups of PostgreSQL"
            ),
        ] as [([String], Int32, String)])
    func `Wrong settings of backups are refused`(
        _ flags: [String], _ status: Int32, _ message: String
    ) async throws {
        try await withTemporaryFolder { folder in
            let store = flags.contains("--store") ? [] : ["--store", folder + "/s.sqlite"]
            let run = try await Program.run(
                ["serve", "--listen", "127.0.0.1:0"] + flags + store, folder: folder)
            #expect(run.status == status && run.errors.contains(message), "\(run.errors)")
        }
    }
}
