import Foundation
import Glibc
import TestSupport
import Testing

@testable import geobucket

/// A command at the wrong address says what is there, and which flag or port would do.
@Suite struct WrongPortTests {
    @Test(arguments: [
        ("host", "host:4362", false), ("host:1", "host:1", false), ("[::1]", "[::1]:4362", false),
        ("[::1]:2", "[::1]:2", false), ("geobucket://host", "host:4362", false),
        ("geobucket://host:3", "host:3", false), ("geobuckets://host", "host:4362", true),
        ("geobuckets://[::1]:4", "[::1]:4", true),
    ])
    func `An address is a host, perhaps a port, and perhaps a scheme`(
        _ text: String, _ address: String, _ usesTLS: Bool
    ) throws {
        let server = try #require(ServerAddress(text))
        #expect("\(server.address)" == address && server.usesTLS == usesTLS)
    }

    @Test(arguments: [
        "", ":1", "host:", "host:x", "host:65536", "::1", "http://host", "geobucket://",
        "geobucket://host/", "a b", "host/x",
    ])
    func `Anything else is no address`(_ text: String) { #expect(ServerAddress(text) == nil) }

    @Test func `An address of another form is refused with the forms there are`() async throws {
        try await withTemporaryFolder { folder in
            let run = try await Program.run(
                ["call", "server.ping", "--server", "http://127.0.0.1:4364"], folder: folder)
            #expect(run.status == 2 && run.errors.contains("geobuckets://HOST:PORT"), "\(run)")
            let process = try ChildProcess.start(
                "/usr/bin/env",
                ["GEOBUCKET_SERVER=a b", Program.path, "call", "server.ping"], folder: folder)
            #expect(await process.end() == 2)
            #expect(process.standardError.contains("GEOBUCKET_SERVER is \"a b\"; expected HOST"))
        }
    }

    /// The addresses of a service: of its lines, its health and its web port.
    private static func ports(of process: ChildProcess, _ port: Int) -> [String: String] {
        let lines = process.standardOutput.split(separator: "\n").map { $0.split(separator: " ") }
        return Dictionary(uniqueKeysWithValues: lines.map { (String($0[1]), String($0[3])) })
            .merging(["lines": "127.0.0.1:\(port)"]) { $1 }
    }

    /// What a call says that fails.
    private static func complaint(_ folder: String, _ arguments: String...) async throws -> String {
        let run = try await Program.run(["call", "server.ping"] + arguments, folder: folder)
        return run.status == 1 ? run.errors : "status \(run.status): \(run.errors)"
    }

    private static let ports = ["--http", "127.0.0.1:0", "--web", "127.0.0.1:0"]

    @Test func `Without TLS each wrong port is named`() async throws {
        try await withTemporaryFolder { folder in
            try await Program.serve(
                store: folder + "/s.sqlite", folder: folder, flags: Self.ports
            ) { process, port in
                let ports = Self.ports(of: process, port)
                let monitoring = try await Self.complaint(folder, "--server", ports["http"]!)
                #expect(monitoring.contains("is the port for health and metrics (--http); "))
                #expect(monitoring.contains("commands take port 4362"), "\(monitoring)")
                let web = try await Self.complaint(folder, "--server", ports["web"]!)
                #expect(web.contains("\(ports["web"]!) speaks HTTP, as the web port"), "\(web)")
                let watch = try await Program.run(
                    ["watch", "--bucket", "b1", "--server", ports["web"]!], folder: folder)
                #expect(watch.status == 1 && watch.errors.contains("speaks HTTP"), "\(watch)")
                let plain = try await Self.complaint(folder, "--server", ports["lines"]!, "--tls")
                #expect(plain.contains("speaks no TLS: leave out --tls"), "\(plain)")
                let scheme = try await Program.run(
                    ["call", "server.ping", "--server", "geobucket://\(ports["lines"]!)"],
                    folder: folder)
                #expect(scheme.output == "\"pong\"\n", "\(scheme)")
            }
        }
    }

    @Test func `With TLS each wrong port is named, and a login that is missing`() async throws {
        try await withTemporaryFolder { folder in
            let authority = try TestAuthority(folder: folder)
            let identity = try authority.issue("server")
            let tokens = folder + "/tokens"
            _ = try await Program.run(
                ["token", "create", "--tokens", tokens, "--principal", "alice"], folder: folder)
            try await Program.serve(
                store: folder + "/s.sqlite", folder: folder,
                flags: Self.ports + [
                    "--tokens", tokens, "--tls-certificate", identity.certificate, "--tls-key",
                    identity.key,
                ]
            ) { process, port in
                let ports = Self.ports(of: process, port)
                let lines = try await Self.complaint(folder, "--server", ports["lines"]!)
                #expect(lines.contains("speaks TLS: give --tls, with --tls-ca"), "\(lines)")
                let web = try await Self.complaint(folder, "--server", ports["web"]!)
                #expect(web.contains("speaks TLS: give --tls; or if it is the web port"), "\(web)")
                let other = try await Self.complaint(
                    folder, "--server", ports["web"]!, "--tls-ca", authority.certificate)
                #expect(other.contains("speaks something else in TLS, perhaps HTTP"), "\(other)")
                let unknown = try await Self.complaint(
                    folder, "--server", "geobuckets://\(ports["lines"]!)")
                #expect(unknown.contains("certificate is not trusted"), "\(unknown)")
                let list = try await Program.run(
                    [
                        "buckets", "--server", "geobuckets://\(ports["lines"]!)", "--tls-ca",
                        authority.certificate,
                    ], folder: folder)
                #expect(list.status == 1, "\(list)")
                #expect(list.errors.contains("UNAUTHORIZED"), "\(list)")
                #expect(list.errors.contains("give --token-file"), "\(list)")
            }
        }
    }

    @Test func `Another program is told by its first words, and silence is no service`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let banner = folder + "/banner.py"
            try """
            import socket
            server = socket.create_server(("127.0.0.1", 0))
            print(server.getsockname()[1], flush=True)
            while True:
                client = server.accept()[0]
                client.sendall(b"SSH-2.0-OpenSSH_9.2\\r\\n")
                client.close()
            """.write(toFile: banner, atomically: true, encoding: .utf8)
            let server = try ChildProcess.start(
                "/usr/bin/env", ["python3", banner], folder: folder)
            while !server.standardOutput.hasSuffix("\n") {
                try await Task.sleep(for: .milliseconds(5))
            }
            let address = "127.0.0.1:\(server.standardOutput.dropLast())"
            let run = try await Self.complaint(folder, "--server", address)
            #expect(run.contains("something else (\"SSH-2.0-OpenSSH_9.2\")"), "\(run)")
            await server.killAndWait()
            let none = try await Self.complaint(folder, "--server", address)
            #expect(none.contains("is `geobucket serve` running?"), "\(none)")
        }
    }
}
