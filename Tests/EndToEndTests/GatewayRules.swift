import Foundation
import HTTPGateway
import TestSupport
import Testing

/// Health, metrics and logs of the built program.
@Suite struct GatewayRules {
    private static func port(named name: String, in output: String) throws -> Int {
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
                #expect(try HTTPGet(port: http, path: "/readyz").status == 200)
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
                let text = try HTTPGet(port: http, path: "/metrics").body
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
                    try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
                #expect(entry["bucket"] == "shops")
                #expect(entry["method"] == "bucket.count")
                #expect(entry["level"] == "notice")
                // The column may have been made by the time it is written down.
                let plan = try #require(entry["plan"])
                #expect(
                    [
                        "scan, reads documents for name; in order as found",
                        "scan, filters name; in order as found",
                    ].contains(plan), "\(plan)")
                #expect(!process.standardError.contains("secret"))
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
