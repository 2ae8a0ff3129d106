import Foundation
import GeoBucketClient
import TestSupport
import Testing

/// `geobucket token`, and a running service that takes up what it changes.
@Suite struct AccessTests {
    private static func run(_ arguments: [String], _ folder: String) async throws -> String {
        let run = try await Program.run(arguments, folder: folder)
        guard run.status == 0 else { throw TestFailure("\(arguments): \(run.errors)") }
        return String(run.output.dropLast())
    }

    /// Makes a token in the folder's file.
    private static func create(_ folder: String, _ arguments: String...) async throws -> String {
        try await run(["token", "create", "--tokens", folder + "/tokens"] + arguments, folder)
    }

    /// Asks until the outcome is there; the suite's time limit ends a wait in vain.
    private static func wait(
        for outcome: String, _ ask: () async throws -> String
    ) async throws {
        while try await ask() != outcome { try await Task.sleep(for: .milliseconds(20)) }
    }

    @Test(.timeLimit(.minutes(20)))
    func `Tokens are made, listed and revoked, and a running service knows at once`() async throws {
        try await withTemporaryFolder { folder in
            let first = try await Self.create(folder, "--principal", "alice", "--role", "read")
            try await Program.serve(
                store: folder + "/s.sqlite", folder: folder, host: "127.0.0.1",
                flags: ["--tokens", folder + "/tokens"]
            ) { process, port in
                // No moment passes between the making of a token and its use.
                let second = try await Self.create(
                    folder, "--principal", "bob", "--group", "drivers", "--bucket", "shops",
                    "--bucket", "groups/drivers", "--days", "2")
                try await LineConnection.with(host: "127.0.0.1", port: port) { connection in
                    try await connection.logIn(token: first)
                    try await connection.logIn(token: second)
                    let put = #"{"bucket":"shops","id":"o1","object":{}}"#
                    func outcome() async throws -> String {
                        try await LoginRules.outcome(connection, "object.put", put)
                    }
                    #expect(try await outcome() == "accepted")
                    let list = try await Self.run(
                        ["token", "list", "--tokens", folder + "/tokens"], folder)
                    let rows = list.split(separator: "\n").map { $0.split(separator: "\t") }
                    #expect(rows.map { $0[1] } == ["alice", "bob"])
                    #expect(rows.map { $0[2] } == ["read", "write"])
                    #expect(rows[1][3...4] == ["groups: drivers", "buckets: groups/drivers,shops"])
                    #expect(rows[1].last?.hasPrefix("expires: ") == true)
                    let id = String(rows[1][0])
                    _ = try await Self.run(
                        ["token", "revoke", id, "--tokens", folder + "/tokens"], folder)
                    try await Self.wait(for: "1401 UNAUTHORIZED", outcome)
                    // A file that makes no sense changes nothing; one that does counts again.
                    let path = folder + "/tokens"
                    let kept = try #require(FileManager.default.contents(atPath: path))
                    try Data("{".utf8).write(to: URL(fileURLWithPath: path))
                    try await connection.logIn(token: first)
                    try kept.write(to: URL(fileURLWithPath: path))
                    let again = try await Program.run(
                        ["token", "revoke", id, "--tokens", path], folder: folder)
                    #expect(again.status == 1)
                }
                let said = process.standardError + process.standardOutput
                for token in [first, second] { #expect(!said.contains(token.suffix(43))) }
            }
            let mode = try FileManager.default.attributesOfItem(atPath: folder + "/tokens")
            #expect(mode[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test(.timeLimit(.minutes(20)))
    func `Signed tokens log in while their key is in the key set`() async throws {
        try await withTemporaryFolder { folder in
            let (signer, path) = (TokenSigner(), folder + "/keys.json")
            func publish(_ set: String) throws {
                try Data(set.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
            }
            try publish(#"{"keys":1}"#)
            let flags = ["--jwt-keys", path, "--jwt-audience", "shops.example.org"]
            let none = try await Program.run(
                ["serve", "--store", folder + "/s.sqlite"] + flags, folder: folder)
            #expect(none.status == 1)
            #expect(none.errors.contains("keys.json is no key set (JWKS): expected an object"))
            try publish(signer.keySet())
            let token = try signer.token(
                #"{"sub":"alice","role":"write","aud":"shops.example.org","exp":9999999999}"#)
            let endless = try signer.token(
                #"{"sub":"alice","role":"write","aud":"shops.example.org"}"#)
            try await Program.serve(
                store: folder + "/s.sqlite", folder: folder, host: "127.0.0.1", flags: flags
            ) { process, port in
                try await LineConnection.with(host: "127.0.0.1", port: port) { connection in
                    func outcome() async throws -> String {
                        try await LoginRules.outcome(
                            connection, "object.put",
                            #"{"bucket":"users/alice/notes","id":"o1","object":{}}"#)
                    }
                    #expect(try await outcome() == "1401 UNAUTHORIZED")
                    let login = try await LoginRules.outcome(
                        connection, "auth.login", #"{"token":"\#(endless)"}"#)
                    #expect(login == "1401 WRONG_TOKEN token")
                    try await connection.logIn(token: token)
                    #expect(try await outcome() == "accepted")
                    try publish("{")
                    try await process.waitForError("the file of signing keys cannot be read")
                    #expect(try await outcome() == "accepted")
                    // The last key goes too.
                    try publish(#"{"keys":[]}"#)
                    try await Self.wait(for: "1401 UNAUTHORIZED", outcome)
                    try publish(signer.keySet())
                    try await Self.wait(for: "accepted") {
                        try await LoginRules.outcome(
                            connection, "auth.login", #"{"token":"\#(token)"}"#)
                    }
                    try publish(TokenSigner(id: "k2").keySet())
                    try await Self.wait(for: "1401 UNAUTHORIZED", outcome)
                }
                let said = process.standardError + process.standardOutput
                #expect(said.contains("the key set has no key for signatures"))
                #expect(!said.contains(token.suffix(20)))
            }
            try publish(signer.keySet())
            try await Program.serve(
                store: folder + "/s.sqlite", folder: folder,
                flags: flags + ["--jwt-without-expiry"]
            ) { _, port in
                try await LineConnection.with(host: "127.0.0.1", port: port) {
                    try await $0.logIn(token: endless)
                }
            }
        }
    }

    @Test func `A token for several buckets is made, listed and refused by the command`()
        async throws
    {
        try await withTemporaryFolder { folder in
            _ = try await Self.create(
                folder, "--principal", "till", "--bucket", "shops=read", "--bucket",
                "sales-*=append")
            _ = try await Self.create(
                folder, "--principal", "mixed", "--role", "edit", "--bucket", "shops=read",
                "--bucket", "users/mixed")
            let list = try await Self.run(
                ["token", "list", "--tokens", folder + "/tokens"], folder)
            let rows = list.split(separator: "\n").map { $0.split(separator: "\t") }
            #expect(rows[0][1...] == ["till", "append", "buckets: sales-*=append,shops=read"])
            #expect(rows[1][1...] == ["mixed", "edit", "buckets: shops=read,users/mixed=edit"])
            for wrong in ["shops=god", "shops=admin", "shops=read=write", "orders/*", "*x", "-*"] {
                let run = try await Program.run(
                    [
                        "token", "create", "--tokens", folder + "/tokens", "--principal", "p",
                        "--bucket", wrong,
                    ], folder: folder)
                #expect(run.status == 2, "\(wrong): \(run.errors)")
            }
        }
    }

    @Test func `Failed logins are logged as long as nobody has to wait for them`() async throws {
        try await withTemporaryFolder { folder in
            _ = try await Self.create(folder, "--principal", "alice")
            try await Program.serve(
                store: folder + "/s.sqlite", folder: folder,
                flags: [
                    "--tokens", folder + "/tokens", "--failed-logins", "3",
                    "--failed-login-milliseconds", "86400000",
                ]
            ) { process, port in
                try await LineConnection.with(host: "127.0.0.1", port: port) { connection in
                    for number in 0..<20 {
                        let outcome = try await LoginRules.outcome(
                            connection, "auth.login",
                            #"{"token":"gbt_00000000000\#(number % 10)_xyz"}"#)
                        #expect(outcome.hasPrefix(number < 3 ? "1401" : "1429"))
                    }
                }
                process.signal(SIGTERM)
                #expect(await process.end() == 0)
                let lines = process.standardError.split(separator: "\n")
                let failed = lines.filter { $0.contains("a login failed") }
                #expect(failed.count == 3)
                for (number, line) in zip(0..., failed) {
                    #expect(line.contains("token=\"00000000000\(number)\""), "\(line)")
                }
                #expect(!process.standardError.contains("xyz"))
            }
        }
    }

    @Test func `Client commands log in with the token of a file or of the environment`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let token = try await Self.create(folder, "--principal", "alice")
            try Data((token + "\n").utf8).write(to: URL(fileURLWithPath: folder + "/token"))
            try await Program.serve(
                store: folder + "/s.sqlite", folder: folder,
                flags: ["--tokens", folder + "/tokens"]
            ) { _, port in
                let call = ["call", "bucket.list", "--server", "127.0.0.1:\(port)"]
                let without = try await Program.run(call, folder: folder)
                #expect(without.status == 1)
                #expect(without.errors.contains("UNAUTHORIZED"))
                #expect(
                    try await Self.run(call + ["--token-file", folder + "/token"], folder)
                        == #"{"buckets":[]}"#)
            }
        }
    }

    @Test(.timeLimit(.minutes(20)))
    func `SIGHUP takes up new certificates, and client commands speak TLS`() async throws {
        try await withTemporaryFolder { folder in
            let authority = try TestAuthority(folder: folder)
            let server = try authority.issue("server")
            let flags = ["--tls-certificate", server.certificate, "--tls-key", server.key]
            try await Program.serve(store: folder + "/s.sqlite", folder: folder, flags: flags) {
                process, port in
                let ping = ["call", "server.ping", "--server", "localhost:\(port)"]
                let trusted = ["--tls-ca", authority.certificate]
                #expect(try await Self.run(ping + trusted, folder) == "\"pong\"")
                let plain = try await Program.run(ping, folder: folder)
                #expect(plain.status == 1)
                #expect(plain.errors.contains("speaks TLS: give --tls"), "\(plain.errors)")
                let stranger = try await Program.run(ping + ["--tls"], folder: folder)
                #expect(stranger.status == 1)
                #expect(
                    stranger.errors.contains("certificate is not trusted"), "\(stranger.errors)")
                _ = try TestAuthority(folder: folder).issue("server")
                #expect(try await Program.run(ping + trusted, folder: folder).status == 1)
                process.signal(SIGHUP)
                try await Self.wait(for: "0") {
                    "\(try await Program.run(ping + trusted, folder: folder).status)"
                }
                process.signal(SIGTERM)
                #expect(await process.end() == 0)
            }
        }
    }

    @Test func `A service without TLS lives through SIGHUP`() async throws {
        try await withTemporaryFolder { folder in
            try await Program.serve(store: folder + "/s.sqlite", folder: folder) { process, port in
                process.signal(SIGHUP)
                process.signal(SIGHUP)
                try await LineConnection.with(host: "127.0.0.1", port: port) {
                    _ = try await $0.call("server.ping", Array("{}".utf8))
                }
                process.signal(SIGTERM)
                #expect(await process.end() == 0)
            }
        }
    }
}
