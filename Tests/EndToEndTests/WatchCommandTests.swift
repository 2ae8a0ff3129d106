import Foundation
import GeoBucketClient
import JSONText
import TestSupport
import Testing

/// `geobucket watch` as a shell sees it.
@Suite(.timeLimit(.minutes(3))) struct WatchCommandTests {
    private static func put(
        _ id: String, _ name: String, meters: Double, _ port: Int, _ folder: String
    ) async throws {
        let params =
            #"{"bucket":"couriers","id":"\#(id)","object":{"name":"\#(name)","location":{"_type":"point","lat":\#(35.68 + meters / 111_194.926645),"lon":139.76}}}"#
        let run = try await Program.run(
            ["call", "object.put", params, "--server", "127.0.0.1:\(port)"], folder: folder)
        #expect(run.status == 0, "\(run.errors)")
    }

    private static func start(
        _ arguments: [String], _ port: Int, _ folder: String
    ) throws -> ChildProcess {
        try ChildProcess.start(
            Program.path,
            ["watch", "--bucket", "couriers", "--server", "127.0.0.1:\(port)"] + arguments,
            folder: folder)
    }

    private static let near = ["--near", "35.68,139.76", "--within", "2km"]

    /// Waits until standard output has so many lines, and returns them.
    private static func lines(_ count: Int, of process: ChildProcess) async throws -> [String] {
        while true {
            let lines = process.standardOutput.split(separator: "\n").map(String.init)
            if lines.count >= count { return lines }
            if let status = await process.end(within: .milliseconds(5)) {
                throw TestFailure("watch has ended with \(status): \(process.standardError)")
            }
        }
    }

    private static func interrupt(_ process: ChildProcess) async {
        process.signal(SIGINT)
        #expect(await process.end() == 0, "\(process.standardError)")
    }

    @Test func `A line an event, for people, until Ctrl-C`() async throws {
        try await withTemporaryFolder { folder in
            try await TestService.with { service in
                let port = service.port
                try await Self.put("c1", "Aiko", meters: 412.5, port, folder)
                let watch = try Self.start(Self.near, port, folder)
                _ = try await Self.lines(1, of: watch)
                try await Self.put("c7", "Ben", meters: 1_999.5, port, folder)
                try await Self.put("c1", "Aiko", meters: 160.5, port, folder)
                try await Self.put("c7", "Ben", meters: 2_100, port, folder)
                let lines = try await Self.lines(4, of: watch)
                #expect(
                    lines == [
                        "+ c1 Aiko 412 m", "+ c7 Ben 1,999 m", "~ c1 Aiko 160 m",
                        "- c7 Ben moved",
                    ])
                await Self.interrupt(watch)
                #expect(watch.standardError == "")
            }
        }
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func `It outlives the service's end, says so, and misses nothing`(_ signal: Int32) async throws
    {
        try await withTemporaryFolder { folder in
            let store = folder + "/store.sqlite"
            let (watch, port) = try await Program.serve(store: store, folder: folder) {
                process, port in
                try await Self.put("c1", "Aiko", meters: 100.5, port, folder)
                let watch = try Self.start(Self.near + ["--format", "ndjson"], port, folder)
                _ = try await Self.lines(1, of: watch)
                process.signal(signal)
                _ = await process.end()
                try await watch.waitForError("the connection is lost; trying again")
                return (watch, port)
            }
            try await Program.serve(store: store, folder: folder, port: port) { _, port in
                try await watch.waitForError("the connection is back")
                try await Self.put("c2", "Chie", meters: 200.5, port, folder)
                let lines = try await Self.lines(2, of: watch).map { try JSONValue(parsing: $0) }
                #expect(lines.map { $0["event"]?.string } == ["enter", "enter"])
                #expect(lines.map { $0["object"]?["name"]?.string } == ["Aiko", "Chie"])
                await Self.interrupt(watch)
            }
        }
    }

    @Test func `With a resume file the next start goes on where the last one was`() async throws {
        try await withTemporaryFolder { folder in
            try await TestService.with { service in
                let port = service.port
                let flags = Self.near + ["--resume-file", folder + "/place"]
                for id in ["c1", "c2", "c3"] {
                    try await Self.put(id, "x", meters: 100.5, port, folder)
                }
                let first = try Self.start(flags, port, folder)
                _ = try await Self.lines(3, of: first)
                await Self.interrupt(first)
                try await Self.put("c2", "y", meters: 150.5, port, folder)
                try await Self.put("c3", "x", meters: 9_000, port, folder)
                let second = try Self.start(flags, port, folder)
                let lines = try await Self.lines(2, of: second)
                #expect(
                    Set(lines) == ["+ c2 y 150 m", "- c3 changed"]
                        || Set(lines) == ["+ c2 y 150 m", "- c3 moved"])
                await Self.interrupt(second)
            }
        }
    }

    @Test func `A ranking shows places`() async throws {
        try await withTemporaryFolder { folder in
            try await TestService.with { service in
                let port = service.port
                for (id, meters) in [("c1", 100.5), ("c2", 200.5), ("c3", 300.5)] {
                    try await Self.put(id, "x", meters: meters, port, folder)
                }
                let watch = try Self.start(
                    ["--near", "35.68,139.76", "--limit", "2", "--interval", "0"], port, folder)
                var lines = try await Self.lines(2, of: watch)
                #expect(lines == ["+ #1 c1 x 100 m", "+ #2 c2 x 200 m"])
                try await Self.put("c3", "x", meters: 50.5, port, folder)
                lines = Array(try await Self.lines(4, of: watch).dropFirst(2))
                #expect(lines == ["- #2 c2 x moved", "+ #1 c3 x 50 m"], "\(lines)")
                await Self.interrupt(watch)
            }
        }
    }

    @Test func `Pairs and a centre that moves`() async throws {
        try await withTemporaryFolder { folder in
            try await TestService.with { service in
                let port = service.port
                try await Self.put("c1", "x", meters: 0, port, folder)
                try await Self.put("c2", "x", meters: 100.5, port, folder)
                let pairs = try Self.start(
                    Self.near + ["--pairs", "couriers", "--pairs-within", "150m"], port, folder)
                let around = try Self.start(
                    ["--center-object", "couriers/c1", "--within", "150m"], port, folder)
                #expect(try await Self.lines(1, of: pairs) == ["+ c1 c2 100 m"])
                #expect(try await Self.lines(2, of: around) == ["+ c1 x 0 m", "+ c2 x 100 m"])
                try await Self.put("c1", "x", meters: 400, port, folder)
                #expect(try await Self.lines(2, of: pairs)[1] == "- c1 c2 moved")
                #expect(try await Self.lines(3, of: around).contains("- c2 x moved"))
                await Self.interrupt(pairs)
                await Self.interrupt(around)
            }
        }
    }

    @Test(arguments: [
        (["--limit", "201"], "--limit"), (["--order-by", "n"], "--limit"),
        (["--pairs", "riders"], "--pairs-within"), (["--pairs-within", "5"], "--pairs"),
        (["--center-object", "c7"], "BUCKET/ID"), (["--interval", "5"], "--limit"),
        (["--center-object", "b1/c7", "--near", "1,2"], "exclude"), (["--within", "5"], "--near"),
        (["--leave-within", "5 parsecs"], "--leave-within"), (["--format", "xml"], "--format"),
        (["--leave-within", "5km"], "--near or --center-object"),
        (["--near", "1,2", "--leave-within", "5km"], "--within"),
        (["--near", "1,2", "--within", "5km", "--leave-within", "1km"], "at least --within"),
        (["--near", "1,2", "--within", "1m", "--leave-within", "2m", "--limit", "3"], "--limit"),
        (["--pairs", "riders", "--pairs-within", "5km"], "--near"),
        (
            [
                "--near", "1,2", "--pairs", "riders", "--pairs-within", "5km", "--leave-within",
                "1km",
            ], "at least --pairs-within"
        ),
    ])
    func `A wrong flag is wrong usage and is named`(_ flags: [String], _ name: String) async throws
    {
        try await withTemporaryFolder { folder in
            let run = try await Program.run(
                ["watch", "--bucket", "couriers"] + flags, folder: folder)
            #expect(run.status == 2, "\(run.errors)")
            #expect(run.errors.contains(name), "\(run.errors)")
        }
    }

    @Test func `A resume file that cannot be written is refused before anything is printed`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let run = try await Program.run(
                [
                    "watch", "--bucket", "couriers", "--server", "127.0.0.1:1", "--resume-file",
                    folder + "/none/place",
                ], folder: folder)
            #expect(run.status == 1 && run.errors.contains("place cannot be written"))
        }
    }

    @Test func `Where nobody listens it fails at once`() async throws {
        try await withTemporaryFolder { folder in
            for command in ["watch", "count"] {
                let run = try await Program.run(
                    [command, "--bucket", "couriers", "--server", "127.0.0.1:1"], folder: folder)
                #expect(run.status == 1 && run.errors.contains("no service answers at 127.0.0.1:1"))
                #expect(run.errors.contains("; is `geobucket serve` running?"), "\(run.errors)")
            }
        }
    }
}
