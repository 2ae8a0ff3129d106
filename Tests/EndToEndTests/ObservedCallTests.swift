import Foundation
import GeoBucketClient
import JSONText
import TestSupport
import Testing

/// What no answer of the service shows: how it compares secrets, under which keys TLS encrypts its tickets,
/// what it sets on its connections.
@Suite(.timeLimit(.minutes(5))) struct ObservedCallTests {
    /// A service with observed_calls.c in it.
    private struct Observed {
        let port: Int
        let process: ChildProcess
        fileprivate let folder: String

        /// How often something was compared in constant time.
        var comparisons: Int {
            FileManager.default.contents(atPath: folder + "/comparisons")?.count ?? 0
        }

        /// Moves TLS's clock ahead of the machine's.
        func move(hours: Int) throws {
            try Data("\(hours * 3_600)".utf8).write(to: URL(fileURLWithPath: folder + "/shift"))
        }
    }

    private static func with(
        folder: String, flags: [String], _ body: (Observed) async throws -> Void
    ) async throws {
        let shim = try await Shim.build("observed_calls", in: folder)
        try await Program.serve(
            store: folder + "/store.sqlite", folder: folder, flags: flags,
            environment: [
                "LD_PRELOAD=\(shim)", "COMPARISONS=\(folder)/comparisons",
                "SHIFT=\(folder)/shift",
            ]
        ) { process, port in
            try await body(Observed(port: port, process: process, folder: folder))
        }
    }

    // MARK: Comparisons

    /// A text with another letter in its middle.
    private static func altered(_ text: String) -> String {
        var letters = Array(text)
        letters[letters.count / 2] = letters[letters.count / 2] == "A" ? "B" : "A"
        return String(letters)
    }

    @Test func `Tokens, page keys, resume tokens and Kii's key are compared in constant time`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let tokens = folder + "/tokens"
            let made = try await Program.run(
                ["token", "create", "--tokens", tokens, "--principal", "p1", "--role", "write"],
                folder: folder)
            let token = made.output.split(separator: "\n").first.map(String.init) ?? ""
            let flags = [
                "--tokens", tokens, "--web", "127.0.0.1:0", "--kii-app", "app", "--kii-key", "key",
                "--kii-anonymous", "read",
            ]
            try await Self.with(folder: folder, flags: flags) { observed in
                let web = try GatewayRules.port(
                    named: "web", in: observed.process.standardOutput)
                try await WatchClient.with(port: observed.port) { client in
                    func compares(
                        _ what: String, _ action: () throws -> Void
                    ) throws {
                        let before = observed.comparisons
                        try action()
                        #expect(observed.comparisons > before, "\(what)")
                    }
                    try compares("the secret of a token") {
                        let wrong = Self.altered(token)
                        let outcome = try client.outcome("auth.login", #"{"token":"\#(wrong)"}"#)
                        #expect(outcome == "WRONG_TOKEN token")
                    }
                    _ = try client.call("auth.login", #"{"token":"\#(token)"}"#)
                    for id in ["o1", "o2"] {
                        let params = #"{"bucket":"shops","id":"\#(id)","object":{}}"#
                        _ = try client.call("object.put", params)
                    }
                    // What compares nothing.
                    let quiet = observed.comparisons
                    let page = try client.call(
                        "bucket.query", #"{"bucket":"shops","bestEffortLimit":1}"#)
                    let watch = try client.start(params: #"{"bucket":"shops"}"#)
                    let snapshot = try client.notification("watch.snapshot", of: watch)
                    #expect(observed.comparisons == quiet)
                    let (key, resume) = (page.nextPaginationKey, snapshot["resume"]?.string)
                    try compares("the code of a page key") {
                        let wrong = Self.altered(try #require(key))
                        let outcome = try client.outcome(
                            "bucket.query", #"{"bucket":"shops","paginationKey":"\#(wrong)"}"#)
                        #expect(outcome == "INVALID_INPUT_DATA paginationKey")
                    }
                    try compares("the code of a resume token") {
                        let wrong = Self.altered(try #require(resume))
                        let start = try client.call(
                            "watch.start", #"{"bucket":"shops","resume":"\#(wrong)"}"#)
                        #expect(start["resumed"]?.bool == false)
                    }
                    try compares("Kii's key") {
                        let answer = try HTTPAnswer(
                            port: web, path: "/api/apps/app/buckets/shops/objects/o1",
                            headers: ["X-Kii-AppID: app", "X-Kii-AppKey: wrong"])
                        #expect(answer.status == 401)
                    }
                }
            }
        }
    }

    // MARK: Tickets

    /// The name of the key under which a new connection gets a ticket: its first 16 bytes.
    private static func ticketKey(port: Int, folder: String) async throws -> String {
        let process = try ChildProcess.start(
            "/usr/bin/openssl",
            ["s_client", "-connect", "127.0.0.1:\(port)", "-tls1_2"], folder: folder)
        let status = await process.end()
        let output = process.standardOutput
        // `0000 - 4f 1c … e2-07 …   O...`
        let line = try #require(
            output.firstMatch(of: /TLS session ticket:\s+0000 - ([0-9a-f -]{47})/),
            "\(status ?? -1): \(output) \(process.standardError)")
        return String(line.output.1)
    }

    @Test func `Session tickets are encrypted under another key after two days`() async throws {
        try await withTemporaryFolder { folder in
            let server = try TestAuthority(folder: folder).issue("server")
            let flags = ["--tls-certificate", server.certificate, "--tls-key", server.key]
            try await Self.with(folder: folder, flags: flags) { observed in
                var keys: [String] = []
                for hours in [0, 0, 47, 49, 95, 98] {
                    try observed.move(hours: hours)
                    keys.append(try await Self.ticketKey(port: observed.port, folder: folder))
                }
                #expect(keys[0] == keys[1] && keys[1] == keys[2])
                #expect(keys[2] != keys[3] && keys[3] == keys[4] && keys[4] != keys[5])
                #expect(Set(keys).count == 3)
            }
        }
    }

    // MARK: Connections

    /// The timer of the service's side of the connection at a port, as Linux tells it: 2 is that of
    /// keep-alive; nil without a connection.
    private static func timer(port: Int) throws -> Int? {
        let local = "0100007F:" + String(format: "%04X", port)
        // Foundation would read no more of such a file than the first call of the system returns.
        guard let table = fopen("/proc/net/tcp", "r") else { throw TestFailure("no table") }
        defer { fclose(table) }
        var buffer = [CChar](repeating: 0, count: 512)
        while fgets(&buffer, Int32(buffer.count), table) != nil {
            let line = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
            let columns: [Substring] = line.split(separator: " ")
            guard columns.count > 5, columns[1] == local, columns[3] == "01" else { continue }
            return Int(columns[5].prefix(2), radix: 16)
        }
        return nil
    }

    @Test func `TCP keep-alive finds clients that are gone, at every port`() async throws {
        try await withTemporaryFolder { folder in
            try await Program.serve(
                store: folder + "/store.sqlite", folder: folder,
                flags: ["--http", "127.0.0.1:0", "--web", "127.0.0.1:0"]
            ) { process, port in
                let get = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
                for (name, request) in [
                    ("ready", FramingRules.ping()), ("http", get), ("web", get),
                ] {
                    let port = try GatewayRules.port(named: name, in: process.standardOutput)
                    try await RawConnection.during(port: port) { raw in
                        try raw.send(request)
                        _ = try raw.line()
                        // Until the client has confirmed the answer another timer runs, 1.
                        #expect(try await waited { try Self.timer(port: port) != 1 })
                        #expect(try Self.timer(port: port) == 2, "\(name)")
                    }
                }
            }
        }
    }
}
