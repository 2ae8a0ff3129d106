import EmbeddedBackend
import Foundation
import GRDB
import GeoBucketClient
import Glibc
import JSONText
import Objects
import TestSupport
import Testing

/// What a client is told when something below the service fails, and how it goes on.
@Suite(.timeLimit(.minutes(20)), .serialized) struct FaultTests {
    /// Stores some objects, lets `operation` fail, heals it.
    ///
    /// Nothing answered is lost, nothing refused is there, reads go on, writes come back by themselves.
    private static func fault(
        _ operation: String, _ number: Int32, answers code: String
    ) async throws {
        try await withTemporaryFolder { folder in
            let store = folder + "/store.sqlite"
            try await FailingStore.serve(store: store, folder: folder) { service, process in
                for number in 0..<20 { #expect(try await service.put(number) == "accepted") }
                try service.fail(operation, number)
                #expect(try await service.put(20) == code)
                #expect(
                    try await service.outcome(
                        "object.putMany", #"{"bucket":"b1","objects":[{"_id":"o1"},{}]}"#) == code)
                #expect(try await service.outcome("bucket.delete", #"{"bucket":"b1"}"#) == code)
                #expect(try await service.get(7) == "accepted")
                #expect(try await service.get(20) == "OBJECT_NOT_FOUND")
                #expect(try await service.count() == 20)
                try service.heal()
                #expect(try await service.put(21) == "accepted")
                #expect(try await service.count() == 21)
                process.signal(SIGKILL)
            }
            try await Self.expectWhole(store, folder, objects: 21)
        }
    }

    private static func expectWhole(_ store: String, _ folder: String, objects: Int) async throws {
        try await FailingStore.serve(store: store, folder: folder) { service, _ in
            let count = try await service.count()
            #expect(count == objects)
        }
        let report = try StoreCheck.run(path: store)
        #expect(report.problems == [] && report.objects == objects)
    }

    @Test func `A full disk refuses writes with STORE_FULL`() async throws {
        try await Self.fault("write", ENOSPC, answers: "STORE_FULL")
    }

    @Test(arguments: [("write", EIO), ("sync", EIO), ("write", EROFS)])
    func `A write that the disk fails is refused, the service goes on`(
        operation: String, number: Int32
    ) async throws {
        try await Self.fault(operation, number, answers: "UNDEFINED_ERROR")
    }

    @Test func `The durability full syncs before it answers, normal does not`() async throws {
        for (durability, outcome) in [("full", "UNDEFINED_ERROR"), ("normal", "accepted")] {
            try await withTemporaryFolder { folder in
                try await FailingStore.serve(
                    store: folder + "/store.sqlite", folder: folder,
                    flags: ["--durability", durability]
                ) { service, _ in
                    #expect(try await service.put(1) == "accepted")
                    try service.fail("sync", EIO)
                    #expect(try await service.put(2) == outcome, "\(durability)")
                    try service.heal()
                }
            }
        }
    }

    @Test(
        .enabled(if: geteuid() == 0, "only root can mount a small file system"),
        arguments: [false, true])
    func `A small file system that fills up refuses writes until there is room`(
        isStoppedFull: Bool
    ) async throws {
        try await withTemporaryFolder { folder in
            let disk = folder + "/disk"
            try FileManager.default.createDirectory(
                atPath: disk, withIntermediateDirectories: false)
            try #require(mount("tmpfs", disk, "tmpfs", 0, "size=6m") == 0)
            defer { umount2(disk, Int32(MNT_DETACH)) }
            let store = disk + "/store.sqlite"
            let ballast = disk + "/ballast"
            try Data(count: 2 << 20).write(to: URL(fileURLWithPath: ballast))
            var stored = 0
            try await FailingStore.serve(store: store, folder: folder) { service, process in
                var outcome = "accepted"
                while outcome == "accepted", stored < 5_000 {
                    outcome = try await service.put(stored, padding: 20_000)
                    if outcome == "accepted" { stored += 1 }
                }
                #expect(outcome == "STORE_FULL", "after \(stored)")
                #expect(try await service.count() == stored)
                #expect(try await service.get(0) == "accepted")
                if isStoppedFull {
                    process.signal(SIGTERM)
                    #expect(await process.end() == 0)
                    try FileManager.default.removeItem(atPath: ballast)
                    return
                }
                try FileManager.default.removeItem(atPath: ballast)
                #expect(try await service.put(stored, padding: 20_000) == "accepted")
                stored += 1
                process.signal(SIGKILL)
            }
            try await Self.expectWhole(store, folder, objects: stored)
        }
    }

    @Test func `A document that cannot be read is an error of that read alone`() async throws {
        try await withTemporaryFolder { folder in
            let store = folder + "/store.sqlite"
            try await FailingStore.serve(store: store, folder: folder) { service, process in
                for number in 0..<400 { _ = try await service.put(number, padding: 20_000) }
                process.signal(SIGTERM)
                #expect(await process.end() == 0)
            }
            try await FailingStore.serve(
                store: store, folder: folder, flags: ["--document-cache-bytes", "0"]
            ) { service, _ in
                try service.fail("read", EIO)
                #expect(try await service.get(7) == "UNDEFINED_ERROR")
                #expect(try await service.count() == 400)
                try service.heal()
                #expect(try await service.get(7) == "accepted")
            }
        }
    }

    @Test func `A store that cannot be written is refused at the start`() async throws {
        try await withTemporaryFolder { folder in
            let store = folder + "/store.sqlite"
            try await Program.serve(store: store, folder: folder) { process, _ in
                process.signal(SIGTERM)
                #expect(await process.end() == 0)
            }
            let before = FileManager.default.contents(atPath: store)
            let shim = try await Shim.build("failing_io", in: folder)
            try Data("open \(EROFS)".utf8).write(to: URL(fileURLWithPath: folder + "/control"))
            let process = try ChildProcess.start(
                "/usr/bin/env",
                [
                    "LD_PRELOAD=\(shim)", "FAILING_IO=\(folder)/control",
                    Program.path, "serve", "--listen", "127.0.0.1:0", "--store", store,
                ], folder: folder)
            #expect(await process.end() == 1)
            #expect(process.standardError.contains("Read-only file system"))
            #expect(FileManager.default.contents(atPath: store) == before)
        }
    }

    /// A store of 300 objects of 6,000 bytes, stopped; then a page of its table is overwritten.
    private static func withDamagedPage(
        _ kind: String, _ body: (_ store: String, _ folder: String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let store = folder + "/store.sqlite"
            try await FailingStore.serve(store: store, folder: folder) { service, process in
                for number in 0..<300 { _ = try await service.put(number, padding: 6_000) }
                process.signal(SIGTERM)
                #expect(await process.end() == 0)
            }
            let page = try await DatabaseQueue(path: store).read { db in
                try Int.fetchOne(
                    db,
                    sql: "SELECT pageno FROM dbstat WHERE name = 'object' AND pagetype = ? "
                        + "ORDER BY pageno LIMIT 1 OFFSET 20", arguments: [kind])
            }
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: store))
            try file.seek(toOffset: UInt64(try #require(page) - 1) * 4_096)
            try file.write(contentsOf: Data(repeating: 0xA5, count: 4_096))
            try file.close()
            try await body(store, folder)
        }
    }

    @Test func `A damaged page that the start needs stops it with a message`() async throws {
        try await Self.withDamagedPage("leaf") { store, folder in
            let run = try await Program.run(
                ["serve", "--listen", "127.0.0.1:0", "--store", store], folder: folder)
            #expect(run.status == 1 && run.errors.contains("the store is damaged"), "\(run.errors)")
            let check = try await Program.run(["check", "--store", store], folder: folder)
            #expect(check.status == 1)
        }
    }

    @Test func `A damaged page of a document is an error of that document alone`() async throws {
        try await Self.withDamagedPage("overflow") { store, folder in
            try await FailingStore.serve(store: store, folder: folder) { service, _ in
                var refused = 0
                for number in 0..<300 {
                    let outcome = try await service.get(number)
                    if outcome != "accepted" {
                        #expect(outcome == "UNDEFINED_ERROR")
                        refused += 1
                    }
                }
                #expect(refused == 1)
                #expect(try await service.put(300) == "accepted")
                #expect(try await service.outcome("store.check", "{}") == "accepted")
            }
            let check = try await Program.run(["check", "--store", store], folder: folder)
            #expect(check.status == 1 && check.output.contains("cannot be read"), "\(check.output)")
        }
    }

    @Test func `A log whose end is torn loses that end alone`() async throws {
        try await withTemporaryFolder { folder in
            let store = folder + "/store.sqlite"
            try await FailingStore.serve(store: store, folder: folder) { service, process in
                for number in 0..<50 { _ = try await service.put(number, padding: 3_000) }
                process.signal(SIGKILL)
            }
            let log = try FileHandle(forUpdating: URL(fileURLWithPath: store + "-wal"))
            let end = try log.seekToEnd()
            try log.seek(toOffset: end - 2_000)
            try log.write(contentsOf: Data(repeating: 0x5A, count: 2_000))
            try log.close()
            try await FailingStore.serve(store: store, folder: folder) { service, _ in
                let count = try await service.count()
                #expect((1..<51).contains(count))
                #expect(try await service.get(count - 1) == "accepted")
            }
            #expect(try StoreCheck.run(path: store).problems == [])
        }
    }

    @Test func `A service without memory for columns and documents answers the same`()
        async throws
    {
        var limits = Limits()
        limits.memoryBytes = 0
        limits.documentCacheBytes = 0
        try await TestService.with(limits: limits) { service in
            try await service.store((0..<300).map { ("o\($0)", #""n":\#($0 % 7)"#) })
            for _ in 0..<5 {
                let ids = try await service.ids(
                    #"{"type":"eq","field":"n","value":3}"#, order: #""orderBy":"n""#)
                #expect(ids == stride(from: 3, to: 300, by: 7).map { "o\($0)" })
            }
            let memory = try await service.call("server.stats")["memory"]
            #expect(memory?["columnBytes"] == .int(0))
            #expect(memory?["cachedDocumentBytes"] == .int(0))
        }
    }
}
