import Foundation
import GeoBucketClient
import JSONText
import TestSupport
import Testing

/// `geobucket serve` as a process: how it starts, stops and refuses to start.
@Suite struct ServeTests {
    /// A stop that waited for this would take longer than a test does.
    private static let longDrain = ["--drain-seconds", "3600"]

    private static func fill(_ connection: LineConnection, count: Int) async throws {
        for start in stride(from: 0, to: count, by: 500) {
            let objects = (start..<start + 500).map {
                #"{"_id":"o\#($0)","n":\#($0),"s":"\#(String(repeating: "ab", count: 20))\#($0)"}"#
            }
            _ = try await connection.call(
                "object.putMany",
                Array(#"{"bucket":"many","objects":[\#(objects.joined(separator: ","))]}"#.utf8))
        }
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `a stop answers the requests in flight and exits with 0`(signal: Int32) async throws {
        try await withTemporaryFolder { folder in
            let store = folder + "/store.sqlite"
            try await Program.serve(
                store: store, folder: folder, flags: Self.longDrain
            ) { process, port in
                try await LineConnection.with(host: "127.0.0.1", port: port) { connection in
                    try await Self.fill(connection, count: 4_000)
                    let slow =
                        #"{"jsonrpc":"2.0","id":1,"method":"bucket.count","params":{"bucket":"many","#
                        + #""bucketQuery":{"clause":{"type":"contains","field":"s","value":"bb"}}}}"#
                    let write =
                        #"{"jsonrpc":"2.0","id":2,"method":"object.put","params":"#
                        + #"{"bucket":"many","id":"last","object":{}}}"#
                    let ping = #"{"jsonrpc":"2.0","id":0,"method":"server.ping"}"#
                    // All in one segment, so the answer to the first shows that all were read. The
                    // empty lines behind it have no answers of their own and await those of others.
                    let lines = [ping, slow, slow, write, slow, write]
                    let first = connection.begin(Array(lines.joined(separator: "\n").utf8))
                    let others = lines.dropFirst().map { _ in connection.begin([]) }
                    #expect(
                        try JSONValue(parsing: try await first.value())["result"] == .string("pong")
                    )
                    process.signal(signal)
                    var answers: [JSONValue] = []
                    for answer in others {
                        answers.append(try JSONValue(parsing: try await answer.value()))
                    }
                    #expect(answers.map { $0["id"]?.int } == [1, 1, 2, 1, 2])
                    #expect(answers.map { $0["result"]?["count"]?.int } == [0, 0, nil, 0, nil])
                    #expect(
                        answers.map { $0["result"]?["_version"]?.int } == [nil, nil, 1, nil, 2])
                    let status = await process.end()
                    #expect(status == 0, "\(process.standardError)")
                }
            }
            try await Program.serve(store: store, folder: folder) { _, port in
                try await LineConnection.with(host: "127.0.0.1", port: port) { connection in
                    let last = try await connection.call(
                        "object.get", Array(#"{"bucket":"many","id":"last"}"#.utf8))
                    #expect(try JSONValue(parsing: last)["_version"]?.int == 2)
                }
            }
        }
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `a stop before it is ready ends it with 0`(signal: Int32) async throws {
        try await withTemporaryFolder { folder in
            try await Program.serve(store: folder + "/s.sqlite", folder: folder) { silent, port in
                // In place of a database, what takes a connection and never answers.
                silent.signal(SIGSTOP)
                let process = try ChildProcess.start(
                    Program.path,
                    [
                        "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--store",
                        "postgresql://nobody@127.0.0.1:\(port)/none", "--cache",
                        folder + "/cache.sqlite",
                    ], folder: folder)
                while !process.standardOutput.contains("geobucket http on") {
                    try await Task.sleep(for: .milliseconds(5))
                }
                process.signal(signal)
                #expect(await process.end() == 0)
                #expect(!process.standardOutput.contains("ready"))
                #expect(
                    process.standardError.contains("stopped before it was ready"),
                    "\(process.standardError)")
            }
        }
    }

    @Test func `out of descriptors it waits for some, and keeps no processor busy`() async throws {
        try await withTemporaryFolder { folder in
            try await Program.serve(
                store: folder + "/s.sqlite", folder: folder,
                environment: ["prlimit", "--nofile=80:80"]
            ) { process, port in
                try await LineConnection.with(host: "127.0.0.1", port: port) { connection in
                    func processorSeconds() async throws -> Double {
                        let stats = try await connection.call("server.stats", Array("{}".utf8))
                        return try JSONValue(parsing: stats)["cpuSeconds"]?.double ?? .nan
                    }
                    // More than there are descriptors for: the rest waits in the kernel's queue.
                    try await RawConnection.during(port: port, count: 120) { clients in
                        while !process.standardError.contains("cannot be accepted") {
                            try await Task.sleep(for: .milliseconds(5))
                        }
                        let before = try await processorSeconds()
                        // What it uses of a time is measured, so that time has to pass.
                        try await Task.sleep(for: .seconds(2))
                        let used = try await processorSeconds() - before
                        #expect(used < 1, "\(used) of 2 s")
                        // Some twenty attempts, and one may have found a descriptor by chance.
                        let told = process.standardError.ranges(of: "cannot be accepted").count
                        #expect(told < 10)
                        for client in clients.dropLast() { client.close() }
                        try clients.last!.send(FramingRules.ping())
                        #expect(try clients.last!.line() == FramingRules.pong())
                    }
                }
            }
        }
    }

    @Test func `a stop ends connections that ask for nothing`() async throws {
        try await withTemporaryFolder { folder in
            try await Program.serve(
                store: folder + "/s.sqlite", folder: folder, flags: Self.longDrain
            ) { process, port in
                try await LineConnection.with(host: "127.0.0.1", port: port) { connection in
                    _ = try await connection.call("server.ping", Array("{}".utf8))
                    process.signal(SIGTERM)
                    #expect(await process.end() == 0)
                }
            }
        }
    }

    @Test func `a port in use is said and ends it with 1`() async throws {
        try await withTemporaryFolder { folder in
            try await Program.serve(store: folder + "/a.sqlite", folder: folder) { _, port in
                let run = try await Program.run(
                    ["serve", "--listen", "127.0.0.1:\(port)", "--store", folder + "/b.sqlite"],
                    folder: folder)
                #expect(run.status == 1)
                #expect(run.errors.contains("cannot listen on 127.0.0.1:\(port)"), "\(run.errors)")
                #expect(run.errors.contains("in use"), "\(run.errors)")
                #expect(run.output == "")
            }
        }
    }

    @Test func `what keeps a second process from serving is said in one line`() async throws {
        try await withTemporaryFolder { folder in
            let (store, http) = (folder + "/a.sqlite", ["--http", "127.0.0.1:0"])
            try await Program.serve(store: store, folder: folder, flags: http) { process, port in
                let taken = try #require(
                    process.standardOutput.firstMatch(of: /http on 127.0.0.1:([0-9]+)/)?.1)
                let quiet = ["--log-level", "error", "--listen"]
                let here = ["127.0.0.1:0", "--store", store]
                let there = ["--store", folder + "/b.sqlite"]
                for (flags, reason) in [
                    (here, "in use by another process"), (here + http, "in use by another process"),
                    (["127.0.0.1:\(port)"] + there, "cannot listen on 127.0.0.1:\(port): Address"),
                    (
                        ["127.0.0.1:\(port)"] + there + http,
                        "cannot listen on 127.0.0.1:\(port): Address"
                    ),
                    (
                        ["127.0.0.1:0"] + there + ["--http", "127.0.0.1:\(taken)"],
                        "cannot serve HTTP on 127.0.0.1:\(taken): Address already in use"
                    ),
                    (
                        ["no-such-host.invalid:0", "--insecure"] + there,
                        "cannot listen on no-such-host.invalid:0: the host's name is not known"
                    ),
                ] {
                    let run = try await Program.run(["serve"] + quiet + flags, folder: folder)
                    #expect(run.status == 1)
                    let lines = run.errors.split(separator: "\n")
                    #expect(lines.count == 1, "\(run.errors)")
                    #expect(lines.first?.contains(reason) == true, "\(run.errors)")
                    #expect(lines.first?.hasPrefix("geobucket: ") == true, "\(run.errors)")
                }
            }
        }
    }

    @Test func `too little address space is said in one line`() async throws {
        try await withTemporaryFolder { folder in
            let serve = "serve --listen 127.0.0.1:0 --http 127.0.0.1:0 --store \(folder)/s.sqlite"
            for command in [
                serve, "call server.ping --server 127.0.0.1:1",
                "check --store \(folder)/none.sqlite", "backup \(folder)/copy.sqlite",
            ] {
                let process = try ChildProcess.start(
                    "/bin/sh", ["-c", "ulimit -v 400000; exec \(Program.path) \(command)"],
                    folder: folder)
                #expect(await process.end() == 1)
                let lines = process.standardError.split(separator: "\n")
                #expect(lines.count == 1, "\(process.standardError)")
                #expect(
                    lines.first?.contains("the limit of address space (ulimit -v) is 400000 KiB")
                        == true, "\(process.standardError)")
            }
        }
    }

    @Test func `a stop that does not wait says nothing of the writes under way`() async throws {
        try await withTemporaryFolder { folder in
            try await Program.serve(
                store: folder + "/s.sqlite", folder: folder, flags: ["--drain-seconds", "0"]
            ) { process, port in
                let puts = (0..<3_000).map {
                    #"{"jsonrpc":"2.0","id":1,"method":"object.put","params":"#
                        + #"{"bucket":"b1","id":"o\#($0)","object":{}}}"# + "\n"
                }
                try await RawConnection.during(port: port) { raw in
                    try raw.send(puts.joined())
                    _ = try raw.line()
                    process.signal(SIGTERM)
                    #expect(await process.end() == 0)
                }
                #expect(!process.standardError.contains("ERROR"), "\(process.standardError)")
            }
        }
    }

    @Test func `a stop with HTTP says nothing but that it stops`() async throws {
        try await withTemporaryFolder { folder in
            for round in 0..<3 {
                try await Program.serve(
                    store: folder + "/s.sqlite", folder: folder, flags: ["--http", "127.0.0.1:0"]
                ) { process, _ in
                    let http = try #require(
                        process.standardOutput.firstMatch(of: /http on 127.0.0.1:([0-9]+)/)
                            .flatMap { Int($0.1) })
                    for _ in 0..<round { _ = try HTTPAnswer(port: http, path: "/metrics") }
                    // One that wants its answers and does not read them, and half a request.
                    try await RawConnection.during(port: http) { raw in
                        let get = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
                        try raw.send(String(repeating: get, count: round * 1_000) + "GET /")
                        process.signal(SIGTERM)
                        #expect(await process.end() == 0)
                    }
                    #expect(!process.standardError.contains("ERROR"), "\(process.standardError)")
                }
            }
        }
    }

    @Test func `an address that others can reach is warned of, loopback is not`() async throws {
        try await withTemporaryFolder { folder in
            for (host, warns) in [("0.0.0.0", true), ("127.0.0.1", false)] {
                try await Program.serve(
                    store: folder + "/\(host).sqlite", folder: folder, host: host,
                    flags: warns ? ["--insecure"] : []
                ) { process, _ in
                    process.signal(SIGTERM)
                    #expect(await process.end() == 0)
                    let warning = process.standardError.split(separator: "\n").contains {
                        $0.contains("warning") && $0.contains(host)
                    }
                    #expect(warning == warns, "\(process.standardError)")
                }
            }
        }
    }

    @Test(arguments: [
        ["serve", "--nonsense"], ["serve", "--listen", "nowhere"],
        ["serve", "--listen", "a:99999"],
        ["serve", "--page-objects", "0"], ["serve", "--page-objects", "many"],
        ["serve", "--log-level", "loud"], ["serve", "--store", "redis://host/1"],
        ["serve", "--listen", "0.0.0.0:0"], ["serve", "--listen", "127.0.0.1.example.org:0"],
        ["serve", "--tls-key", "k.pem"], ["serve", "--tls-client-ca", "c.pem"],
        ["serve", "--jwt-audience", "shops"], ["serve", "--jwt-issuer", "https://example.org"],
        ["serve", "--jwt-without-expiry"],
        ["token", "create", "--principal", "a/b"], ["token", "create"],
        ["token", "create", "--principal", "a", "--role", "god"],
        ["token", "create", "--principal", "a", "--bucket", "-"],
        ["serve", "extra"], ["frobnicate"], ["load", "-"],
        ["serve", "--drain-seconds", "-1"], ["serve", "--tokens", ""], ["serve", "--tls-key", ""],
    ])
    func `wrong usage is said on standard error and ends it with 2`(
        arguments: [String]
    ) async throws {
        try await withTemporaryFolder { folder in
            let store = folder + "/store.sqlite"
            let named = arguments[0] == "serve" && !arguments.contains("--store")
            let run = try await Program.run(
                arguments + (named ? ["--store", store] : []), folder: folder)
            #expect(run.status == 2, "\(run.errors)")
            #expect(run.output == "")
            #expect(!run.errors.isEmpty)
            #expect(!FileManager.default.fileExists(atPath: store), "a store was made")
        }
    }

    @Test(arguments: [([], false), (["SWIFT_DETERMINISTIC_HASHING=1"], true)])
    func `a process whose hash tables have no seed of their own warns of it`(
        environment: [String], warns: Bool
    ) async throws {
        try await withTemporaryFolder { folder in
            try await Program.serve(
                store: folder + "/store.sqlite", folder: folder, environment: environment
            ) { process, _ in
                process.signal(SIGTERM)
                #expect(await process.end() == 0)
                let log = process.standardError
                #expect(log.contains("hash tables have no seed") == warns, "\(log)")
            }
        }
    }
}
