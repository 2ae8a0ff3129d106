import Foundation
import GeoBucketClient
import TestSupport
import Testing

@testable import geobucket

/// The commands with which somebody looks after a service.
@Suite struct OperatorCommandTests {
    private static func sample(
        _ stats: String, activity: String = "{}", at moment: Double = 100
    ) throws -> ServiceSample {
        try ServiceSample(
            stats: Array(stats.utf8), activity: Array(activity.utf8), at: moment)
    }

    // MARK: stats

    private static let first =
        #"{"uptimeSeconds":50,"cpuSeconds":5,"requests":{"object.get":{"count":10,"errors":1,"microseconds":1000,"durations":[[96,9],[192,1]]}},"busiest":[{"bucket":"shops","requests":10,"microseconds":1000}],"objects":3}"#
    private static let second =
        #"{"uptimeSeconds":60,"cpuSeconds":10,"requests":{"object.get":{"count":110,"errors":3,"microseconds":21000,"durations":[[96,9],[192,91],[384,10]]},"server.ping":{"count":0,"errors":0,"microseconds":0,"durations":[]}},"busiest":[{"bucket":"shops","requests":110,"microseconds":21000},{"bucket":"idle","requests":0,"microseconds":0}],"objects":4,"host":{"memoryBytes":2048}}"#

    @Test func `A screen shows what has been since the one before`() throws {
        let before = try Self.sample(Self.first, at: 100)
        let now = try Self.sample(Self.second, at: 110)
        let text = StatsScreen(now, since: before).lines.joined(separator: "\n")
        #expect(text.hasPrefix("up 1 min, 50 % of a processor\n"), "\(text)")
        #expect(text.contains("requests     10/s, 0.2/s with errors"), "\(text)")
        // 90 of 100 took up to 192 µs, none fewer.
        #expect(
            text.contains("object.get      10/s       2  ≤ 192 µs  ≤ 384 µs  200 µs"), "\(text)")
        #expect(text.contains("shops                10/s  0 s/s"), "\(text)")
        #expect(!text.contains("server.ping") && !text.contains("idle"))
        #expect(text.contains("memory       0 B of 2 KiB"), "\(text)")
    }

    @Test func `A service that has been started anew is shown since its start`() throws {
        let before = try Self.sample(Self.second, at: 100)
        let now = try Self.sample(Self.first, at: 110)
        let text = StatsScreen(now, since: before).lines.joined(separator: "\n")
        #expect(text.contains("requests     0.2/s, 0/s with errors"), "\(text)")
        #expect(text.contains("object.get"), "\(text)")
    }

    @Test func `What runs now is shown with its id`() throws {
        let activity =
            #"{"requests":[{"id":7,"method":"bucket.query","bucket":"shops","principal":"alice","address":"::1","milliseconds":1250,"plan":"scan"}]}"#
        let now = try Self.sample(Self.first, activity: activity)
        let lines = StatsScreen(now, since: nil).lines
        #expect(lines.last == "  7  1.3 s  bucket.query shops  alice  scan", "\(lines)")
    }

    @Test func `stats --once, and stats without a terminal, print what has been since the start`()
        async throws
    {
        try await Program.withService { service, _, run in
            try await service.store(["o1": #""n":1"#], in: "shops")
            for flags in [["--once"], []] {
                let stats = try await run(["stats"] + flags)
                #expect(stats.status == 0, "\(stats)")
                #expect(stats.output.contains("1 object with 0 points in 1 bucket"), "\(stats)")
                #expect(stats.output.contains("object.putMany") && stats.output.contains("shops"))
                #expect(!stats.output.contains("\u{1B}"))
            }
            let wrong = try await run(["stats", "--every", "5"])
            #expect(wrong.status == 2, "\(wrong)")
        }
    }

    @Test(arguments: [
        (0, "0 s"), (59, "59 s"), (60, "1 min"), (200, "3 min 20 s"), (3_600, "1 h"),
        (7_500, "2 h 5 min"), (273_600, "3 d 4 h"),
    ])
    func `A duration has its two largest units`(_ seconds: Int, _ text: String) {
        #expect(Amounts.duration(seconds: seconds) == text)
    }

    @Test(arguments: [
        (0, "0 B"), (1_023, "1,023 B"), (1_024, "1 KiB"), (1_600, "1.6 KiB"),
        (5 << 20, "5 MiB"), (3 << 30, "3 GiB"),
    ])
    func `A size has at most one decimal`(_ bytes: Int, _ text: String) {
        #expect(Amounts.bytes(bytes) == text)
    }

    // MARK: doctor

    private static func findings(
        _ stats: String, connections: Int = 100, clockAhead: Double = 0
    ) throws -> [String] {
        Diagnosis(
            sample: try sample(stats), connectionLimit: connections, clockAhead: clockAhead,
            now: 1_000_000_000_000
        ).findings
    }

    private static let well =
        #""diskBytes":100000000000,"diskFreeBytes":50000000000,"openFiles":20,"openFilesLimit":1000,"memoryBytes":8000000000"#

    @Test func `Of a service that is well it says nothing`() throws {
        #expect(
            try Self.findings(
                #"{"storeBytes":1000000,"memory":{"residentBytes":100000000},"host":{\#(Self.well)}}"#
            )
                == [])
    }

    @Test(arguments: [
        (
            #""host":{"diskBytes":100000000000,"diskFreeBytes":500000000}"#,
            "when it is full, writes are refused"
        ),
        (
            #""host":{"diskBytes":100000000000,"diskFreeBytes":20000000000},"storeBytes":30000000000"#,
            "a copy does not fit there"
        ),
        (#""freePages":100000,"storeBytes":500000000"#, "`geobucket compact` gives them back"),
        (#""host":{"openFiles":900,"openFilesLimit":1000}"#, "900 of 1,000 files are open"),
        (
            #""host":{"openFiles":9,"openFilesLimit":110}"#,
            "it takes 100 connections, and may have 110"
        ),
        (#""connections":{"refused":3}"#, "connections refused since the start: 3"),
        (
            #""host":{"memoryBytes":8000},"memory":{"residentBytes":6400},"objects":100"#,
            "at 64 B for each object, some 12 more fit"
        ),
        (#""host":{"certificateEnd":999999999999}"#, "its certificate has ended"),
        (#""host":{"certificateEnd":1000864000000}"#, "its certificate ends in 10 d: renew it"),
        (
            #""scans":200,"requests":{"bucket.query":{"count":1000}}"#,
            "200 of 1,000 queries and counts went through a whole bucket"
        ),
        (#""slowQueries":2"#, "slow queries since the start: 2"),
        (
            #""watches":{"changesBehind":500,"millisecondsBehind":2000}"#,
            "watches are 500 changes and 2 s behind"
        ),
        (#""cluster":{"lagMilliseconds":5000}"#, "the node is 5 s behind PostgreSQL"),
        (#""cluster":{"skewMilliseconds":-9000}"#, "its clock is 9 s behind PostgreSQL's"),
        (#""cluster":{"snapshotMilliseconds":7200000}"#, "open for 2 h"),
        (#""cluster":{"refusedBuckets":1}"#, "do not fit the node's memory"),
    ])
    func `Each thing that is wrong is a sentence`(_ stats: String, _ words: String) throws {
        let found = try Self.findings("{\(stats)}")
        #expect(found.count == 1 && found[0].contains(words), "\(found)")
    }

    @Test func `A clock that is off is told, in either direction`() throws {
        #expect(
            try Self.findings("{}", clockAhead: 3_000)[0].contains("3 s ahead of this machine's"))
        #expect(try Self.findings("{}", clockAhead: -3_000)[0].contains("3 s behind"))
        #expect(try Self.findings("{}", clockAhead: 1_999) == [])
    }

    @Test func `doctor looks at a service and at a file, and ends with 1 if something is wrong`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let store = folder + "/s.sqlite"
            try await Program.serve(store: store, folder: folder) { _, port in
                let run = try await Program.run(
                    ["doctor", "--server", "127.0.0.1:\(port)"], folder: folder)
                // What is wrong with this machine is not known here.
                #expect(
                    run.status == 0 && run.output == "nothing is wrong\n"
                        || run.status == 1 && run.output.hasSuffix("\n"), "\(run)")
                #expect(!run.output.contains("clock") && run.errors == "", "\(run)")
            }
            #expect(chmod(store, 0o644) == 0)
            let open = try await Program.run(["doctor", "--store", store], folder: folder)
            #expect(
                open.status == 1 && open.output.contains("every user of this machine may read it"))
            let none = try await Program.run(
                ["doctor", "--store", folder + "/none.sqlite"], folder: folder)
            #expect(none.status == 1 && none.output.contains("the store cannot be read"), "\(none)")
        }
    }

    // MARK: info and compact

    @Test func `info tells version, store and limits, without a login`() async throws {
        try await LoginRules.with { guarded in
            try await withTemporaryFolder { folder in
                let server = ["--server", "127.0.0.1:\(guarded.service.port)"]
                let table = try await Program.run(["info"] + server, folder: folder)
                #expect(table.status == 0 && table.output.hasPrefix("name  "), "\(table)")
                #expect(table.output.contains("\nlineBytes  "), "\(table)")
                let json = try await Program.run(
                    ["info", "--format", "json"] + server, folder: folder)
                #expect(try JSONValue(parsing: json.output)["protocol"]?.int == 1)
            }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `compact makes the file shorter while the service goes on`() async throws {
        try await withTemporaryFolder { folder in
            let store = folder + "/s.sqlite"
            try await Program.serve(store: store, folder: folder) { _, port in
                func run(_ arguments: String...) async throws -> String {
                    let run = try await Program.run(
                        arguments + ["--server", "127.0.0.1:\(port)"], folder: folder)
                    #expect(run.status == 0, "\(run)")
                    return run.output
                }
                let text = String(repeating: "x", count: 50_000)
                try await LineConnection.with(host: "127.0.0.1", port: port) { connection in
                    for part in 0..<20 {
                        let objects = (0..<10).map { #"{"_id":"o\#(part)-\#($0)","s":"\#(text)"}"# }
                        let params =
                            #"{"bucket":"gone","objects":[\#(objects.joined(separator: ","))]}"#
                        _ = try await connection.call("object.putMany", Array(params.utf8))
                    }
                }
                _ = try await run("drop", "gone", "--yes")
                var free = 0
                while free < 2_000 {
                    let stats = try JSONValue(parsing: try await run("call", "server.stats"))
                    free = stats["freePages"]?.int ?? 0
                    try await Task.sleep(for: .milliseconds(20))
                }
                let compacted = try await run("compact")
                #expect(compacted.hasSuffix(", and 0 free pages\n"), "\(compacted)")
                let size = try FileManager.default.attributesOfItem(atPath: store)[.size] as? Int
                #expect(size ?? .max < 1 << 20)
            }
        }
    }
}
