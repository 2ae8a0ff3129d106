import Foundation
import GeoBucketClient
import HTTPGateway
import TestSupport
import Testing

/// Health, metrics and logs of the built program.
@Suite struct GatewayRules {
    static func port(named name: String, in output: String) throws -> Int {
        let line = try #require(
            output.split(separator: "\n").first { $0.hasPrefix("geobucket \(name) on ") })
        return try #require(line.split(separator: ":").last.flatMap { Int($0) })
    }

    @Test("HTTP is told before the service is ready, and counts what was asked")
    func metrics() async throws {
        try await withTemporaryFolder { folder in
            try await Program.serve(
                store: folder + "/store.sqlite", folder: folder,
                flags: ["--http", "127.0.0.1:0"]
            ) { process, port in
                let lines = process.standardOutput.split(separator: "\n")
                #expect(lines.first?.hasPrefix("geobucket http on 127.0.0.1:") == true)
                #expect(lines.last == "geobucket ready on 127.0.0.1:\(port)")
                let http = try Self.port(named: "http", in: process.standardOutput)
                #expect(try HTTPAnswer(port: http, path: "/readyz").status == 200)
                let server = ["--server", "127.0.0.1:\(port)"]
                func call(_ method: String, _ params: String) async throws {
                    _ = try await Program.run(["call", method, params] + server, folder: folder)
                }
                let place = #"{"_type":"point","lat":59.9,"lon":10.7}"#
                try await call(
                    "object.put", #"{"bucket":"shops","id":"one","object":{"at":\#(place)}}"#)
                try await call(
                    "bucket.query",
                    #"{"bucket":"shops","bucketQuery":{"clause":{"type":"geodistance","field":"at","center":\#(place),"radius":5}}}"#
                )
                try await call("object.get", #"{"bucket":"shops","id":"none"}"#)
                let text = try HTTPAnswer(port: http, path: "/metrics").body
                for sample in [
                    "geobucket_objects 1", "geobucket_points 1", "geobucket_columns 0",
                    "geobucket_commit_writes_sum 1", "geobucket_sync_duration_seconds_count 1",
                    #"geobucket_plans_total{path="circle"} 1"#,
                    #"geobucket_requests_total{method="object.put"} 1"#,
                    #"geobucket_request_duration_seconds_count{method="bucket.query"} 1"#,
                    #"geobucket_request_errors_total{method="object.get",code="OBJECT_NOT_FOUND"} 1"#,
                    "geobucket_connections_accepted_total 3",
                ] {
                    #expect(text.contains("\n" + sample + "\n"), "\(sample)")
                }
                let told = Set(
                    text.split(separator: "\n").filter { $0.hasPrefix("# HELP ") }
                        .map { String($0.split(separator: " ")[2]) })
                #expect(told == Set(MetricCatalogue.metrics.map(\.name)))
            }
        }
    }

    @Test("every metric is in the manual, and no other")
    func manual() throws {
        let manual = try String(
            contentsOfFile: Program.packageRoot + "/docs/operations.md", encoding: .utf8)
        let named = Set(
            manual.matches(of: /`((?:geobucket|process)_[a-z_]+)`/).map { String($0.1) })
        #expect(named == Set(MetricCatalogue.metrics.map(\.name)))
    }

    @Test("a slow query is logged with its plan, as JSON, without what it asked for")
    func slowQuery() async throws {
        try await withTemporaryFolder { folder in
            try await Program.serve(
                store: folder + "/store.sqlite", folder: folder,
                flags: ["--log-format", "json", "--slow-query-milliseconds", "1"]
            ) { process, port in
                let server = ["--server", "127.0.0.1:\(port)"]
                let objects = (0..<20_000).map {
                    #"{"name":"\#($0)\#(String(repeating: "x", count: 80))"}"#
                }
                let path = folder + "/objects.ndjson"
                try objects.joined(separator: "\n").write(
                    toFile: path, atomically: false, encoding: .utf8)
                _ = try await Program.run(
                    ["load", path, "--bucket", "shops"] + server, folder: folder)
                let clause = #"{"type":"contains","field":"name","value":"secret"}"#
                _ = try await Program.run(
                    [
                        "call", "bucket.count",
                        #"{"bucket":"shops","bucketQuery":{"clause":\#(clause)}}"#,
                    ]
                        + server, folder: folder)
                let lines = process.standardError.split(separator: "\n")
                let line = try #require(lines.first { $0.contains("slow query") })
                let entry = try #require(
                    try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
                #expect(entry["bucket"] as? String == "shops")
                #expect(entry["method"] as? String == "bucket.count")
                #expect(entry["level"] as? String == "notice")
                #expect(entry["clause"] as? String == "contains(name)")
                #expect(entry["address"] as? String == "127.0.0.1")
                #expect(try #require(entry["milliseconds"] as? Int) >= 1)
                // The column may have been made by the time it is written down.
                let plan = try #require(entry["plan"] as? String)
                #expect(
                    [
                        "scan, reads documents for name",
                        "scan, filters name",
                    ].contains(plan), "\(plan)")
                #expect(!process.standardError.contains("secret"))
            }
        }
    }

    @Test(
        "a service that is out of descriptors lives, and answers when there are some again",
        .timeLimit(.minutes(5)))
    func descriptors() async throws {
        try await withTemporaryFolder { folder in
            let process = try ChildProcess.start(
                "/bin/sh",
                [
                    "-c",
                    "ulimit -n 150; exec \(Program.path) serve --listen 127.0.0.1:0 "
                        + "--http 127.0.0.1:0 --store \(folder)/s.sqlite",
                ], folder: folder)
            while !process.standardOutput.contains("ready on ") {
                try await Task.sleep(for: .milliseconds(20))
            }
            let port = try Self.port(named: "ready", in: process.standardOutput)
            let http = try Self.port(named: "http", in: process.standardOutput)
            try await RawConnection.during(port: http) { idle in
                try idle.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                while let line = try idle.line(), line != "alive" {}
                try await RawConnection.during(port: port, count: 200) { waiting in
                    while process.openFiles < 150 { try await Task.sleep(for: .milliseconds(5)) }
                    try await process.waitForError("connections cannot be accepted")
                    try await RawConnection.during(port: http) { raw in
                        try raw.send("GET /healthz HTTP/1.0\r\n\r\n")
                        // Having met what it cannot accept, the service closes what is idle. The
                        // answer is there first only if a descriptor has come free by chance.
                        while idle.isSilent(milliseconds: 0), raw.isSilent(milliseconds: 0) {
                            try await Task.sleep(for: .milliseconds(5))
                        }
                        for connection in waiting { connection.close() }
                        #expect(try raw.line() == "HTTP/1.1 200 OK\r")
                    }
                }
            }
            process.signal(SIGTERM)
            #expect(await process.end() == 0)
        }
    }

    @Test(
        "the line of a slow query is short, however many fields it asks for",
        .timeLimit(.minutes(5)))
    func slowQueryOfManyFields() async throws {
        try await withTemporaryFolder { folder in
            try await Program.serve(
                store: folder + "/store.sqlite", folder: folder,
                flags: ["--slow-query-milliseconds", "1"]
            ) { process, port in
                try await LineConnection.with(host: "127.0.0.1", port: port) { line in
                    let names = (0..<900).map { "field\($0)" }
                    let members = names.map { #""\#($0)":"x""# }.joined(separator: ",")
                    for number in 0..<2 {
                        _ = try await line.call(
                            "object.put",
                            Array(
                                #"{"bucket":"shops","id":"o\#(number)","object":{\#(members)}}"#
                                    .utf8))
                    }
                    let clauses = names.map {
                        #"{"type":"contains","field":"\#($0)","value":"secret"}"#
                    }
                    let clause = #"{"type":"or","clauses":[\#(clauses.joined(separator: ","))]}"#
                    _ = try await line.call(
                        "bucket.count",
                        Array(#"{"bucket":"shops","bucketQuery":{"clause":\#(clause)}}"#.utf8))
                }
                var line: Substring?
                while line == nil {
                    line = process.standardError.split(separator: "\n")
                        .first { $0.contains(#"method="bucket.count""#) && $0.contains("plan=") }
                    try await Task.sleep(for: .milliseconds(5))
                }
                // Columns may have been made of some fields by now.
                let found = try #require(line)
                #expect(found.contains("field0") && found.contains(" more"), "\(found)")
                #expect(found.utf8.count < 600, "\(found.utf8.count) bytes")
            }
        }
    }

    @Test("an address that is taken ends the start with a sentence")
    func taken() async throws {
        try await withTemporaryFolder { folder in
            try await Program.serve(
                store: folder + "/store.sqlite", folder: folder
            ) { _, port in
                let (status, _, errors) = try await Program.run(
                    [
                        "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:\(port)",
                        "--store",
                        folder + "/other.sqlite",
                    ], folder: folder)
                #expect(status == 1)
                #expect(errors.contains("cannot serve HTTP on 127.0.0.1:\(port)"), "\(errors)")
            }
        }
    }
}
