import Foundation
import GeoBucketClient
import JSONText
import LoadTest
import QueryServer
import ServiceDesk
import TestSupport
import Testing

/// `geobucket loadtest` as a shell sees it.
@Suite struct LoadTestCommandTests {
    private static func seconds(_ seconds: Int, rate: Int) -> [String] {
        ["loadtest", "--seconds", "\(seconds)", "--rate", "\(rate)", "--warm-up", "0.5"]
    }

    @Test func `A load test of three seconds reports what the service was asked`() async throws {
        try await withTemporaryFolder { folder in
            try await Program.serve(store: folder + "/store.sqlite", folder: folder) { _, port in
                let server = ["--server", "127.0.0.1:\(port)"]
                let files = ["--json", folder + "/a.json", "--report", folder + "/a.html"]
                let run = try await Program.run(
                    Self.seconds(3, rate: 200) + server + files + [
                        "--prepare", "2000", "--connections", "20",
                        "--mix", "radius=5,nearest=2,move=2,create=1", "--objective", "p50=10s",
                    ], folder: folder)
                #expect(run.status == 0, "\(run.errors)")
                #expect(run.errors.isEmpty)
                #expect(run.output.contains("p50=10s was held at every rate, up to 200/s."))

                let json = try #require(FileManager.default.contents(atPath: folder + "/a.json"))
                let report = try LoadReport(json: Array(json))
                #expect(report.setup.objects == 2_000 && report.setup.connections == 20)
                #expect(report.stages.map(\.all.requests) == [100, 600])
                #expect(report.stages.allSatisfy { $0.all.errors.isEmpty })
                let moves = report.stages.reduce(0) { $0 + ($1.kinds["move"]?.requests ?? 0) }
                #expect(moves > 0)
                let counted = try await Program.run(
                    ["call", "server.stats"] + server, folder: folder)
                let statistics = try JSONValue(parsing: counted.output)
                #expect(statistics["requests"]?["object.patch"]?["count"]?.int == moves)
                let page = try String(contentsOfFile: folder + "/a.html", encoding: .utf8)
                #expect(page == report.html)

                let compare = try await Program.run(
                    ["loadtest", "--compare", folder + "/a.json", folder + "/a.json"],
                    folder: folder)
                #expect(compare.status == 0 && compare.output.contains("A at 200/s"))
                #expect(compare.output.contains("0 %"))
            }
        }
    }

    @Test func `A preset is a load whose settings other flags replace`() async throws {
        try await withTemporaryFolder { folder in
            try await Program.serve(store: folder + "/store.sqlite", folder: folder) { _, port in
                let run = try await Program.run(
                    [
                        "loadtest", "--server", "127.0.0.1:\(port)", "--prepare", "500", "--preset",
                        "fleet", "--rate", "110", "--seconds", "2", "--warm-up", "0", "--json",
                        folder + "/a.json",
                    ], folder: folder)
                #expect(run.status == 0, "\(run.errors)")
                let json = try #require(FileManager.default.contents(atPath: folder + "/a.json"))
                let report = try LoadReport(json: Array(json))
                #expect(report.setup.connections == LoadPreset.fleet.connections)
                #expect(report.stages.map(\.rate) == [110])
                #expect(Set(report.stages[0].kinds.keys) == ["radius", "move"])
            }
        }
    }

    @Test func `A load test goes through TLS, every connection logged in`() async throws {
        try await withTemporaryFolder { folder in
            let authority = try TestAuthority(folder: folder)
            let server = try authority.issue("server")
            let identity = try TLSIdentity(
                .init(certificate: server.certificate, key: server.key, clientCA: nil))
            let token = Token()
            let grant = try Grant(principal: "root", role: .admin)
            let access = AccessControl(tokens: LoginRules.file(["load": token], ["load": grant]))
            try token.text.write(toFile: folder + "/token", atomically: true, encoding: .utf8)
            let client = ClientTLS(certificateAuthority: authority.certificate)
            try await TestService.with(access: access, tls: (identity, client)) { service in
                let run = try await Program.run(
                    Self.seconds(1, rate: 50) + [
                        "--server", "127.0.0.1:\(service.port)", "--tls-ca", authority.certificate,
                        "--token-file", folder + "/token", "--prepare", "300", "--connections", "5",
                        "--json", folder + "/a.json",
                    ], folder: folder)
                #expect(run.status == 0, "\(run.errors)")
                let json = try #require(FileManager.default.contents(atPath: folder + "/a.json"))
                let report = try LoadReport(json: Array(json))
                #expect(report.stages.map(\.all.requests) == [25, 50])
                #expect(report.stages.allSatisfy { $0.all.errors.isEmpty })
                let logins = report.samples.last?.numbers["requests.auth.login.count"] ?? 0
                #expect(logins >= 5)
            }
        }
    }

    /// Serves Kii's REST interface, and gives `body` the addresses of the line port and of the web port.
    private static func serveKii(
        _ folder: String, _ body: @escaping @Sendable (String, String) async throws -> Void
    ) async throws {
        try await Program.serve(
            store: folder + "/store.sqlite", folder: folder,
            flags: ["--web", "127.0.0.1:0", "--kii-app", "myapp", "--kii-key", "mykey"]
        ) { service, port in
            let start = "geobucket web on "
            let web = service.standardOutput.split(separator: "\n").first { $0.hasPrefix(start) }
            try await body(
                "127.0.0.1:\(port)", String(try #require(web).dropFirst(start.count)))
        }
    }

    @Test func `A load test over HTTP asks Kii's query, and its answers are pages`() async throws {
        try await withTemporaryFolder { folder in
            try await Self.serveKii(folder) { line, web in
                let run = try await Program.run(
                    Self.seconds(2, rate: 150) + [
                        "--server", line, "--web", web, "--kii-app", "myapp", "--kii-key", "mykey",
                        "--bucket", "users/alice/shops", "--prepare", "2000", "--connections", "5",
                        "--mix", "radius=3,nearest=2,box=1,filter=1,count=1",
                        "--json", folder + "/a.json",
                    ], folder: folder)
                #expect(run.status == 0, "\(run.errors)")
                let path = "/api/apps/myapp/users/alice/buckets/shops/query"
                #expect(run.output.contains("at \(web)\(path), bucket users/alice/shops"))
                let json = try #require(FileManager.default.contents(atPath: folder + "/a.json"))
                let report = try LoadReport(json: Array(json))
                #expect(report.stages.map(\.all.requests) == [75, 300])
                #expect(report.stages.allSatisfy { $0.all.errors.isEmpty })
                #expect(Set(report.stages[1].kinds.keys).count == 5)
                let counted = try await Program.run(
                    ["call", "server.stats", "--server", line], folder: folder)
                let requests = try JSONValue(parsing: counted.output)["requests"]
                // Each connection begins with a query of its own.
                #expect(requests?["bucket.query"]?["count"]?.int == 375 + 5)
            }
        }
    }

    @Test func `A load test over HTTP tells why it is refused`() async throws {
        try await withTemporaryFolder { folder in
            try await Self.serveKii(folder) { line, web in
                let server = ["--server", line, "--web", web]
                for (app, key, code) in [
                    ("myapp", "other", "UNAUTHORIZED"), ("other", "mykey", "APP_NOT_FOUND"),
                ] {
                    let run = try await Program.run(
                        Self.seconds(1, rate: 10) + server + [
                            "--prepare", "10", "--kii-app", app, "--kii-key", key,
                        ], folder: folder)
                    #expect(run.status == 1)
                    #expect(
                        run.errors.contains("the service refuses a connection: \(code)"),
                        "\(run.errors)")
                }
            }
        }
    }

    @Test func `An objective that no rate holds fails the command, with its report`() async throws {
        try await withTemporaryFolder { folder in
            try await TestService.with { service in
                try await service.call(
                    "object.put",
                    #"{"bucket":"b1","id":"o1","object":{"location":{"_type":"point","lat":1,"lon":2}}}"#
                )
                let run = try await Program.run(
                    [
                        "loadtest", "--server", "127.0.0.1:\(service.port)", "--bucket", "b1",
                        "--search", "50:100", "--objective", "p99=0.001us", "--seconds", "0.2",
                        "--warm-up", "0",
                    ], folder: folder)
                #expect(run.status == 1)
                #expect(run.output.contains("No rate held p99=0.001us"))
                #expect(run.errors == "geobucket: no rate held the objective\n")
            }
        }
    }

    @Test func `A bucket without objects fails the command`() async throws {
        try await withTemporaryFolder { folder in
            try await TestService.with { service in
                let run = try await Program.run(
                    ["loadtest", "--server", "127.0.0.1:\(service.port)", "--seconds", "0.2"],
                    folder: folder)
                #expect(run.status == 1)
                #expect(run.errors.contains("--prepare"), "\(run.errors)")
            }
        }
    }

    @Test(arguments: ["--json", "--report"])
    func `A report that cannot be written is refused before the test`(_ flag: String) async throws {
        try await withTemporaryFolder { folder in
            for file in [folder + "/none/report", folder] {
                let run = try await Program.run(
                    Self.seconds(1, rate: 50) + ["--server", "127.0.0.1:1", flag, file],
                    folder: folder)
                #expect(run.status == 1)
                #expect(run.errors.contains("\(file) cannot be written"), "\(run.errors)")
            }
        }
    }

    @Test(arguments: [
        (["--mix", "radius=0"], "--mix"), (["--rate", "0"], "--rate"),
        (["--rate", "1", "--ramp", "1:2:1"], "exclude"), (["--search", "1:2"], "--objective"),
        (["--objective", "fast"], "--objective"), (["--connections", "10001"], "--connections"),
        (["--seconds", "0"], "--seconds"), (["--prepare", "0"], "--prepare"),
        (["--bucket", "x"], "--bucket"), (["--radius", "5 parsecs"], "--radius"),
        (["--where", "a ="], "--where"), (["--compare", "a.json"], "--compare"),
        (["--web", "here", "--kii-app", "myapp"], "--web"), (["--web", "h:1"], "--kii-app"),
        (["--kii-app", "myapp"], "--web"), (["--kii-key", "mykey"], "--web"),
        (["--web", "h:1", "--kii-app", "my app"], "--kii-app"),
        (["--web", "h:1", "--kii-app", "a", "--mix", "radius,get"], "--mix: get goes to the line"),
        (["--web", "h:1", "--kii-app", "a", "--watches", "50"], "--watches"),
    ])
    func `A wrong flag is wrong usage and is named`(_ flags: [String], _ name: String)
        async throws
    {
        try await withTemporaryFolder { folder in
            let run = try await Program.run(["loadtest"] + flags, folder: folder)
            #expect(run.status == 2)
            #expect(run.errors.contains(name), "\(run.errors)")
        }
    }
}
