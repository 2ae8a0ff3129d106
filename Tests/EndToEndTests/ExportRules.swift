import EmbeddedBackend
import GRDB
import GeoBucketClient
import JSONText
import Objects
import TestSupport
import Testing

/// What an export, a backup or a deletion holds of the store, and until when.
@Suite(.timeLimit(.minutes(10))) struct ExportRules {
    private static func store(_ service: TestService, padding: Int) async throws {
        let pad = String(repeating: "x", count: padding)
        for first in stride(from: 0, to: 1_000, by: 500) {
            let objects = (first..<first + 500).map { #"{"_id":"id\#($0)","pad":"\#(pad)"}"# }
            try await service.call(
                "object.putMany",
                #"{"bucket":"rows","objects":[\#(objects.joined(separator: ","))]}"#)
        }
    }

    private static func begin(_ connection: LineConnection) async throws -> String {
        try await next(connection, continues: false)
    }

    /// `more`, `done`, or the error.
    private static func next(
        _ connection: LineConnection, continues: Bool = true
    ) async throws -> String {
        let params = #"{"bucket":"rows","continue":\#(continues)}"#
        do {
            let piece = try JSONValue(
                parsing: try await connection.call("bucket.export", Array(params.utf8)))
            return piece["more"]?.bool == true ? "more" : "done"
        } catch ClientFailure.refused(let failure) {
            return failure.errorCode + (failure.path.map { " \($0)" } ?? "")
        }
    }

    @Test func `What is replaced while an export is under way is not kept in memory`() async throws
    {
        var limits = Limits()
        limits.replyBytes = 2_000
        try await TestService.with(limits: limits) { service in
            try await Self.store(service, padding: 1_000)
            #expect(try await Self.begin(service.connection) == "more")
            for _ in 0..<5 { try await Self.store(service, padding: 1_000) }
            let kept = try await service.call("server.stats")["memory"]?["supersededDocumentBytes"]
            let bytes = try #require(kept?.int)
            #expect(bytes < 2_000_000)
            var pieces = 0
            while try await Self.next(service.connection) == "more" { pieces += 1 }
            #expect(pieces > 300)
        }
    }

    @Test func `An export that keeps more of the log than exportLogBytes is ended`() async throws {
        var limits = Limits()
        limits.replyBytes = 2_000
        limits.exportLogBytes = 1 << 20
        try await TestService.with(limits: limits) { service in
            try await Self.store(service, padding: 1_000)
            #expect(try await Self.begin(service.connection) == "more")
            var outcome = "more"
            while outcome == "more" {
                try await Self.store(service, padding: 1_000)
                outcome = try await Self.next(service.connection)
            }
            #expect(outcome == "TEMPORARY_UNAVAILABLE_ERROR")
            let failure = try await service.error(
                "bucket.export", #"{"bucket":"rows","continue":true}"#)
            #expect(failure?.message.contains("1048576 bytes (exportLogBytes)") == true)
            // It has its place no more, and one that begins now has kept nothing yet.
            #expect(try await Self.begin(service.connection) == "more")
        }
    }

    @Test func `There are at most so many exports, and one goes with its connection`() async throws
    {
        var limits = Limits()
        limits.replyBytes = 2_000
        limits.exports = 2
        try await TestService.with(limits: limits) { service in
            try await Self.store(service, padding: 1_000)
            let port = service.port
            try await LineConnection.with(host: "127.0.0.1", port: port) { second in
                #expect(try await Self.begin(service.connection) == "more")
                try await LineConnection.with(host: "127.0.0.1", port: port) {
                    third async throws in
                    #expect(try await Self.begin(third) == "more")
                    #expect(try await Self.begin(second) == "TOO_MANY_REQUESTS")
                    // Begun anew it takes its own place.
                    #expect(try await Self.begin(third) == "more")
                }
                // Not the minute after which an idle one is let go.
                var outcome = "TOO_MANY_REQUESTS"
                for _ in 0..<200 where outcome == "TOO_MANY_REQUESTS" {
                    outcome = try await Self.begin(second)
                    try await Task.sleep(for: .milliseconds(50))
                }
                #expect(outcome == "more")
                while try await Self.next(second) == "more" {}
                #expect(try await Self.begin(service.connection) == "more")
            }
        }
    }

    private static func refusalOfBackup(
        _ connection: LineConnection
    ) async throws -> RemoteFailure? {
        do {
            _ = try await connection.call("store.backup", Array("{}".utf8))
            return nil
        } catch ClientFailure.refused(let failure) {
            return failure
        }
    }

    @Test(.enabled(if: BackendKind.usualHasFile, "a cluster has no file"))
    func `A second backup beside one that is being copied is told so`() async throws {
        try await TestService.with { service in
            for bucket in 0..<40 {
                let pad = String(repeating: "x", count: 60_000)
                let objects = (0..<15).map { #"{"_id":"id\#($0)","pad":"\#(pad)"}"# }
                try await service.call(
                    "object.putMany",
                    #"{"bucket":"b\#(bucket)","objects":[\#(objects.joined(separator: ","))]}"#)
            }
            try await LineConnection.with(host: "127.0.0.1", port: service.port) { other in
                // One may be copied before the other is asked for, though rarely.
                var refusals: [RemoteFailure] = []
                for _ in 0..<20 where refusals.isEmpty {
                    async let first = Self.refusalOfBackup(other)
                    async let second = Self.refusalOfBackup(service.connection)
                    refusals = [try await first, try await second].compactMap { $0 }
                }
                #expect(refusals.first?.errorCode == "TOO_MANY_REQUESTS")
                #expect(refusals.first?.retryAfterMilliseconds != nil)
            }
            // One that is gone ends as soon as the service notices.
            while let refusal = try await Self.refusalOfBackup(service.connection) {
                try await Task.sleep(for: .milliseconds(refusal.retryAfterMilliseconds ?? 0))
            }
            // A connection that begins anew ends its own.
            for _ in 0..<3 { try await service.call("store.backup") }
            var more = true
            while more {
                more = try await service.call("store.backup", #"{"continue":true}"#)["more"]!.bool!
            }
        }
    }

    @Test func `A deletion that finds nothing holds no state of the store`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            try await TestService.with(path: path) { service in
                for first in stride(from: 0, to: 1_500, by: 500) {
                    let objects = (first..<first + 500).map { #"{"_id":"id\#($0)"}"# }
                    try await service.call(
                        "object.putMany",
                        #"{"bucket":"rows","objects":[\#(objects.joined(separator: ","))]}"#)
                }
                let deleted = try await service.call(
                    "bucket.deleteWhere",
                    #"{"bucket":"rows","bucketQuery":{"clause":{"type":"hasField","field":"x"}}}"#)
                #expect(deleted["deleted"] == .int(0))
                // The log can be emptied when nobody reads a state of it.
                let queue = try DatabaseQueue(path: path)
                var isBusy = true
                for _ in 0..<200 where isBusy {
                    isBusy = try await queue.writeWithoutTransaction { db in
                        let row = try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
                        return row?["busy"] != 0
                    }
                    try await Task.sleep(for: .milliseconds(25))
                }
                #expect(!isBusy)
                try queue.close()
            }
        }
    }
}
