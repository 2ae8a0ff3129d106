import Foundation
import GeoBucketClient
import TestSupport
import Testing

/// Deletions of many objects: how many they would be, and whether that is meant.
@Suite struct DryRunTests {
    private static let small = #"{"clause":{"type":"range","field":"n","upperLimit":2}}"#

    private static func withNumbers(
        _ body: @escaping @Sendable (TestService, Program.Run) async throws -> Void
    ) async throws {
        try await Program.withService { service, _, run in
            try await service.store((1...5).map { ("o\($0)", #""n":\#($0)"#) })
            try await body(service, run)
        }
    }

    @Test func `A dry run tells how many objects match and deletes none`() async throws {
        try await Self.withNumbers { service, _ in
            let dry = try await service.text(
                "bucket.deleteWhere",
                #"{"bucket":"b1","bucketQuery":\#(Self.small),"dryRun":true}"#)
            #expect(dry == #"{"deleted":0,"matches":2}"#)
            #expect(try await service.count(#"{"type":"all"}"#) == 5)
            let wet = try await service.text(
                "bucket.deleteWhere",
                #"{"bucket":"b1","bucketQuery":\#(Self.small),"dryRun":false}"#)
            #expect(wet == #"{"deleted":2}"#)
            let none = try await service.text(
                "bucket.deleteWhere",
                #"{"bucket":"none","bucketQuery":\#(Self.small),"dryRun":true}"#)
            #expect(none == #"{"deleted":0,"matches":0}"#)
        }
    }

    @Test(arguments: [
        (#""bucketQuery":{},"dryRun":1"#, "INVALID_INPUT_DATA dryRun"),
        (#""dryRun":true"#, "INVALID_INPUT_DATA bucketQuery"),
        (#""bucketQuery":{},"dryRun":true,"requestKey":"k1""#, "INVALID_INPUT_DATA requestKey"),
        (#""bucketQuery":{},"atLeast":0"#, "INVALID_INPUT_DATA atLeast"),
        (#""bucketQuery":{},"dryRun":true,"atLeast":0"#, "accepted"),
    ])
    func `A dry run is a read, and takes what reads take`(
        _ params: String, _ outcome: String
    ) async throws {
        try await TestService.with { service in
            let found = try await service.outcome(
                "bucket.deleteWhere", #"{"bucket":"b1",\#(params)}"#)
            #expect(found == outcome)
        }
    }

    @Test func `A dry run needs the permission of the deletion`() async throws {
        try await LoginRules.with { guarded in
            let call = (
                "bucket.deleteWhere", #"{"bucket":"shops","bucketQuery":{},"dryRun":true}"#
            )
            let reader = try await guarded.outcomes(as: "reader", [call])
            let writer = try await guarded.outcomes(as: "writer", [call])
            #expect(reader == ["1403 OPERATION_NOT_ALLOWED"] && writer == ["accepted"])
        }
    }

    @Test func `delete-where needs a condition, and --yes where nobody can be asked`() async throws
    {
        try await Self.withNumbers { service, run in
            let command = ["delete-where", "--bucket", "b1", "--where", "n <= 2"]
            let dry = try await run(command + ["--dry-run"])
            #expect(dry.status == 0 && dry.output == "2\n", "\(dry)")
            let unsure = try await run(command)
            #expect(
                unsure.status == 2
                    && unsure.errors.contains("2 objects of the bucket b1 would be deleted; --yes"),
                "\(unsure)")
            #expect(try await service.count(#"{"type":"all"}"#) == 5)
            let sure = try await run(command + ["--yes"])
            #expect(sure.status == 0 && sure.errors.contains("2 objects deleted"), "\(sure)")
            let all = try await run(["delete-where", "--bucket", "b1", "--yes"])
            #expect(all.status == 2 && all.errors.contains("expected a condition"), "\(all)")
            #expect(try await service.count(#"{"type":"all"}"#) == 3)
        }
    }

    @Test func `A raw call of a script is not asked about`() async throws {
        try await Self.withNumbers { _, run in
            let call = try await run([
                "call", "bucket.deleteWhere", #"{"bucket":"b1","bucketQuery":\#(Self.small)}"#,
            ])
            #expect(call.status == 0 && call.output == "{\"deleted\":2}\n", "\(call)")
            let drop = try await run(["call", "bucket.delete", #"{"bucket":"b1"}"#])
            #expect(drop.status == 0 && drop.output == "{\"deleted\":3}\n", "\(drop)")
        }
    }

    private static let python = ["/usr/bin/python3", "/usr/local/bin/python3"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Runs a command on a terminal at which somebody gives an answer.
    private static let terminal = """
        import os, pty, sys
        answer, words = sys.argv[1], sys.argv[2:]
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(words[0], words)
        seen, asked = b"", False
        while True:
            try:
                piece = os.read(terminal, 4096)
            except OSError:
                break
            if not piece:
                break
            seen += piece
            if b"[y/N]" in seen and not asked:
                asked = True
                os.write(terminal, answer.encode() + b"\\n")
        print(seen.decode(), end="")
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        """

    @Test(
        .enabled(if: python != nil, "no python3"),
        arguments: [
            (
                ["delete-where", "--bucket", "b1", "--where", "n <= 2"],
                "2 objects of the bucket b1"
            ),
            (["drop", "b1"], "the bucket b1 with its 5 objects"),
            (["call", "bucket.delete", #"{"bucket":"b1"}"#], "the bucket b1 with its 5 objects"),
            (
                ["call", "bucket.deleteWhere", #"{"bucket":"b1","bucketQuery":\#(small)}"#],
                "2 objects of the bucket b1"
            ),
        ])
    func `On a terminal each of them asks, with the number of objects`(
        _ command: [String], _ what: String
    ) async throws {
        let python = try #require(Self.python)
        try await withTemporaryFolder { folder in
            try await TestService.with { service in
                try await service.store((1...5).map { ("o\($0)", #""n":\#($0)"#) })
                func answer(_ answer: String) async throws -> (status: Int32?, output: String) {
                    let process = try ChildProcess.start(
                        python,
                        ["-c", Self.terminal, answer, Program.path] + command
                            + ["--server", "127.0.0.1:\(service.port)"], folder: folder)
                    return (await process.end(), process.standardOutput)
                }
                let no = try await answer("n")
                #expect(no.status == 1 && no.output.contains("Delete \(what)? [y/N]"), "\(no)")
                #expect(no.output.contains("nothing was deleted"), "\(no)")
                #expect(try await service.count(#"{"type":"all"}"#) == 5)
                let yes = try await answer("y")
                #expect(yes.status == 0, "\(yes)")
                let left = try await service.count(#"{"type":"all"}"#) ?? 0
                #expect(left < 5)
            }
        }
    }
}
