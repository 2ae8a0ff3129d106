import Foundation
import TestSupport
import Testing

/// The store's file is deleted, moved or replaced while it is served.
@Suite(.timeLimit(.minutes(5))) struct DisplacedStoreTests {
    /// Serves a store of one object, with what happens to its files meanwhile.
    private static func serving(
        _ body: (ChildProcess, FailingStore, _ store: String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let store = folder + "/store.sqlite"
            try await FailingStore.serve(store: store, folder: folder) { service, process in
                for number in 0..<3 { #expect(try await service.put(number) == "accepted") }
                try await body(process, service, store)
            }
        }
    }

    private static func says(_ words: String, _ process: ChildProcess) async throws {
        for _ in 0..<600 where !process.standardError.contains(words) {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(process.standardError.contains(words), "\(process.standardError)")
    }

    @Test(arguments: ["", "-wal", "-shm"])
    func `A file that is deleted is told of at once, and nothing more is written`(suffix: String)
        async throws
    {
        try await Self.serving { process, service, store in
            try FileManager.default.removeItem(atPath: store + suffix)
            // Nobody has written.
            try await Self.says("was deleted, moved or replaced", process)
            #expect(try await service.put(3) == "UNDEFINED_ERROR")
            #expect(try await service.put(1) == "UNDEFINED_ERROR")
            #expect(try await service.get(2) == "accepted")
            #expect(try await service.count() == 3)
            let told = process.standardError.split(separator: "\n")
            #expect(told.filter { $0.contains("writes fail") }.count == 1)
        }
    }

    @Test func `A store that comes back takes writes again`() async throws {
        try await Self.serving { process, service, store in
            try FileManager.default.moveItem(atPath: store, toPath: store + ".away")
            #expect(try await service.put(3) == "UNDEFINED_ERROR")
            try FileManager.default.moveItem(atPath: store + ".away", toPath: store)
            #expect(try await service.put(3) == "accepted")
            try await Self.says("writes succeed again", process)
            process.signal(SIGTERM)
            #expect(await process.end() == 0)
        }
    }

    @Test func `Another store in its place is neither written nor read`() async throws {
        try await withTemporaryFolder { folder in
            let other = folder + "/other.sqlite"
            try await FailingStore.serve(store: other, folder: folder) {
                (service, process) async throws in
                for number in 0..<3 {
                    #expect(try await service.put(number, padding: 99) == "accepted")
                }
                process.signal(SIGTERM)
                #expect(await process.end() == 0)
            }
            let bytes = FileManager.default.contents(atPath: other)
            let store = folder + "/store.sqlite"
            try await FailingStore.serve(
                store: store, folder: folder, flags: ["--document-cache-bytes", "0"]
            ) { service, process in
                for number in 0..<3 { #expect(try await service.put(number) == "accepted") }
                _ = rename(other, store)
                #expect(try await service.put(0) == "UNDEFINED_ERROR")
                for number in 0..<3 {
                    let outcome = try await service.text(number)
                    #expect(
                        outcome.contains(#""pad":"xxxxxxxxxx"}"#) || outcome == "UNDEFINED_ERROR")
                }
                // What is not there any more can be saved as long as the service runs.
                let outcome = try await service.outcome("bucket.export", #"{"bucket":"b1"}"#)
                #expect(outcome == "accepted" || outcome == "UNDEFINED_ERROR")
                process.signal(SIGTERM)
                #expect(await process.end() == 1)
                #expect(process.standardError.contains("was deleted, moved or replaced"))
            }
            #expect(FileManager.default.contents(atPath: store) == bytes)
        }
    }
}
