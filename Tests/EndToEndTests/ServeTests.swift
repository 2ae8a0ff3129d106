import Foundation
import GeoBucketClient
import JSONText
import TestSupport
import Testing

/// `geobucket serve` as a process: how it starts, stops and refuses to start.
@Suite struct ServeTests {
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
            try await Program.serve(store: store, folder: folder) { process, port in
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
                    let started = ContinuousClock.now
                    var answers: [JSONValue] = []
                    for answer in others {
                        answers.append(try JSONValue(parsing: try await answer.value()))
                    }
                    #expect(answers.map { $0["id"]?.int } == [1, 1, 2, 1, 2])
                    #expect(answers.map { $0["result"]?["count"]?.int } == [0, 0, nil, 0, nil])
                    #expect(
                        answers.map { $0["result"]?["_version"]?.int } == [nil, nil, 1, nil, 2])
                    let status = await process.end(within: .seconds(10))
                    #expect(status == 0, "\(process.standardError)")
                    #expect(ContinuousClock.now - started < .seconds(10))
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

    @Test func `a stop ends connections that ask for nothing`() async throws {
        try await withTemporaryFolder { folder in
            try await Program.serve(store: folder + "/s.sqlite", folder: folder) { process, port in
                try await LineConnection.with(host: "127.0.0.1", port: port) { connection in
                    _ = try await connection.call("server.ping", Array("{}".utf8))
                    process.signal(SIGTERM)
                    #expect(await process.end(within: .seconds(10)) == 0)
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

    @Test func `an address that others can reach is warned of, loopback is not`() async throws {
        try await withTemporaryFolder { folder in
            for (host, warns) in [("0.0.0.0", true), ("127.0.0.1", false)] {
                try await Program.serve(
                    store: folder + "/\(host).sqlite", folder: folder, host: host,
                    flags: warns ? ["--insecure"] : []
                ) { process, _ in
                    process.signal(SIGTERM)
                    #expect(await process.end(within: .seconds(10)) == 0)
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
        ["serve", "--jwt-audience", "shops"],
        ["token", "create", "--principal", "a/b"], ["token", "create"],
        ["token", "create", "--principal", "a", "--role", "god"],
        ["token", "create", "--principal", "a", "--bucket", "-"],
        ["serve", "extra"], ["frobnicate"], ["load", "-", "--bucket", "shops"],
        ["serve", "--drain-seconds", "-1"],
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
}
