import Foundation
import GeoBucketClient
import TestSupport
import Testing

/// The files that a service goes by, when they are not what they should be, and how `token` leaves
/// them.
@Suite(.timeLimit(.minutes(10))) struct AccessFileTests {
    private static func token(_ folder: String, _ arguments: String...) async throws -> String {
        let run = try await Program.run(
            ["token"] + arguments + ["--tokens", folder + "/tokens"], folder: folder)
        guard run.status == 0 else { throw TestFailure(run.errors) }
        return String(run.output.dropLast())
    }

    private static func status(_ path: String) throws -> stat {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw TestFailure("there is no \(path)") }
        return status
    }

    /// A pipe that takes the place of whatever is there.
    private static func putPipe(_ path: String) throws {
        #expect(mkfifo(path + ".pipe", 0o600) == 0)
        #expect(rename(path + ".pipe", path) == 0)
    }

    @Test func `A file that the token command changes keeps its owner and its mode`() async throws {
        try await withTemporaryFolder { folder in
            let (path, isRoot) = (folder + "/tokens", geteuid() == 0)
            _ = try await Self.token(folder, "create", "--principal", "alice")
            #expect(try Self.status(path).st_mode & 0o7777 == 0o600)
            #expect(chmod(path, 0o640) == 0)
            if isRoot { #expect(chown(path, 65_534, 65_533) == 0) }
            let before = try Self.status(path)
            _ = try await Self.token(folder, "create", "--principal", "bob")
            let after = try Self.status(path)
            #expect(after.st_ino != before.st_ino)
            #expect(after.st_mode == before.st_mode)
            #expect((after.st_uid, after.st_gid) == (before.st_uid, before.st_gid))
            #expect(try await Self.token(folder, "list").split(separator: "\n").count == 2)
        }
    }

    @Test func `A service does not start with tokens that others may replace, and says why`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let inner = folder + "/open"
            #expect(mkdir(inner, 0o700) == 0)
            _ = try await Self.token(inner, "create", "--principal", "alice")
            #expect(chmod(inner, 0o777) == 0)
            let run = try await Program.run(
                [
                    "serve", "--listen", "127.0.0.1:0", "--store", folder + "/s.sqlite",
                    "--tokens", inner + "/tokens",
                ], folder: folder)
            #expect(run.status == 1)
            #expect(run.errors.contains("they may write its folder (mode 777)"), "\(run.errors)")
        }
    }

    @Test func `Only its owner may read a new store, its log, its index and its backup`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let (path, copy) = (folder + "/s.sqlite", folder + "/copy.sqlite")
            let openly = ["sh", "-c", "umask 0; exec \"$@\"", "sh"]
            try await Program.serve(store: path, folder: folder, environment: openly) {
                process, port in
                for name in ["", "-wal", "-shm"] {
                    let mode = try Self.status(path + name).st_mode & 0o7777
                    #expect(mode == 0o600, "\(name)")
                }
                let backup = try ChildProcess.start(
                    "/usr/bin/env",
                    openly + [Program.path, "backup", copy, "--server", "127.0.0.1:\(port)"],
                    folder: folder)
                #expect(await backup.end() == 0, "\(backup.standardError)")
                #expect(try Self.status(copy).st_mode & 0o7777 == 0o600)
                process.signal(SIGTERM)
                #expect(await process.end() == 0)
                #expect(!process.standardError.contains("may read"))
            }
            // One that is there keeps its mode, and the log says so.
            #expect(chmod(path, 0o644) == 0)
            try await Program.serve(store: path, folder: folder) { process, _ in
                let mode = try Self.status(path).st_mode & 0o7777
                #expect(mode == 0o644)
                #expect(process.standardError.contains("every user of this machine may read"))
            }
        }
    }

    @Test func `A link to the tokens file stays a link`() async throws {
        try await withTemporaryFolder { folder in
            _ = try await Self.token(folder, "create", "--principal", "alice")
            #expect(rename(folder + "/tokens", folder + "/kept") == 0)
            #expect(symlink("kept", folder + "/tokens") == 0)
            _ = try await Self.token(folder, "create", "--principal", "bob")
            #expect(try Self.status(folder + "/tokens").st_mode & S_IFMT == S_IFLNK)
            let kept = try #require(FileManager.default.contents(atPath: folder + "/kept"))
            #expect(String(decoding: kept, as: UTF8.self).contains("\"bob\""))
        }
    }

    @Test func `A revocation is taken up though the file's length and times are as they were`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let path = folder + "/tokens"
            let token = try await Self.token(folder, "create", "--principal", "alice")
            try await Program.serve(
                store: folder + "/s.sqlite", folder: folder, flags: ["--tokens", path]
            ) { _, port in
                try await LineConnection.with(host: "127.0.0.1", port: port) { connection in
                    try await connection.logIn(token: token)
                    let times = try Self.status(path)
                    let text = String(
                        decoding: try #require(FileManager.default.contents(atPath: path)),
                        as: UTF8.self)
                    let other = text.replacing(
                        "\"sha256\":\"", with: "\"sha256\":\"0", maxReplacements: 1)
                    let sameLength = other.replacing(/"sha256":"(.{64})./) {
                        "\"sha256\":\"\($0.1)"
                    }
                    #expect(sameLength.utf8.count == text.utf8.count)
                    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
                    try file.write(contentsOf: Data(sameLength.utf8))
                    try file.close()
                    #expect(utimensat(AT_FDCWD, path, [times.st_atim, times.st_mtim], 0) == 0)
                    while try await LoginRules.outcome(connection, "bucket.list") == "accepted" {
                        try await Task.sleep(for: .milliseconds(20))
                    }
                }
            }
        }
    }

    @Test func `A pipe in place of the tokens holds up neither the next file nor a stop`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let path = folder + "/tokens"
            let token = try await Self.token(folder, "create", "--principal", "alice")
            let kept = try #require(FileManager.default.contents(atPath: path))
            try await Program.serve(
                store: folder + "/s.sqlite", folder: folder, flags: ["--tokens", path]
            ) { process, port in
                try await LineConnection.with(host: "127.0.0.1", port: port) { connection in
                    try await connection.logIn(token: token)
                    try Self.putPipe(path)
                    try await process.waitForError("it is no regular file")
                    #expect(try await LoginRules.outcome(connection, "bucket.list") == "accepted")
                    // Neither does a login that has the file looked at.
                    let login = try await LoginRules.outcome(
                        connection, "auth.login", #"{"token":"gbt_000000000000_x"}"#)
                    #expect(login == "1401 WRONG_TOKEN token")
                    try Data(#"{"tokens":[]}"#.utf8)
                        .write(to: URL(fileURLWithPath: path), options: .atomic)
                    while try await LoginRules.outcome(connection, "bucket.list") == "accepted" {
                        try await Task.sleep(for: .milliseconds(20))
                    }
                    try kept.write(to: URL(fileURLWithPath: path), options: .atomic)
                    while try await LoginRules.outcome(
                        connection, "auth.login", #"{"token":"\#(token)"}"#) != "accepted"
                    {
                        try await Task.sleep(for: .milliseconds(20))
                    }
                }
                let fault = "it is no regular file"
                let seen = process.standardError.ranges(of: fault).count
                try Self.putPipe(path)
                try await process.waitForError(fault, times: seen + 1)
                process.signal(SIGTERM)
                #expect(await process.end() == 0)
            }
        }
    }

    @Test func `A pipe in place of a certificate changes nothing and holds up no stop`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let authority = try TestAuthority(folder: folder)
            let server = try authority.issue("server")
            let flags = ["--tls-certificate", server.certificate, "--tls-key", server.key]
            try await Program.serve(store: folder + "/s.sqlite", folder: folder, flags: flags) {
                process, port in
                try Self.putPipe(server.key)
                process.signal(SIGHUP)
                try await process.waitForError("the certificates cannot be read")
                #expect(process.standardError.contains("its key: it is no regular file"))
                let ping = try await Program.run(
                    [
                        "call", "server.ping", "--server", "localhost:\(port)", "--tls-ca",
                        authority.certificate,
                    ], folder: folder)
                #expect(ping.status == 0, "\(ping.errors)")
                process.signal(SIGTERM)
                #expect(await process.end() == 0)
            }
        }
    }

    @Test(arguments: ["tokens", "jwt-keys", "config", "tls-key"])
    func `A start refuses pipes, devices, and what everybody may write`(flag: String) async throws {
        try await withTemporaryFolder { folder in
            #expect(mkfifo(folder + "/pipe", 0o600) == 0)
            #expect(symlink("/dev/zero", folder + "/zero") == 0)
            try Data("{}".utf8).write(to: URL(fileURLWithPath: folder + "/open"))
            #expect(chmod(folder + "/open", 0o666) == 0)
            var flags = ["serve", "--listen", "127.0.0.1:0", "--store", folder + "/s.sqlite"]
            if flag == "tls-key" {
                let server = try TestAuthority(folder: folder).issue("server")
                flags += ["--tls-certificate", server.certificate]
            }
            for (file, reason) in [
                ("pipe", "it is no regular file"), ("zero", "it is no regular file"),
                ("open", "everybody may write it (mode 666)"),
                ("none", "it cannot be read: No such"),
            ] {
                let run = try await Program.run(
                    flags + ["--" + flag, "\(folder)/\(file)"], folder: folder)
                #expect(run.status == (flag == "config" ? 2 : 1), "\(file): \(run.errors)")
                #expect(run.errors.contains(reason), "\(file): \(run.errors)")
            }
        }
    }

    @Test func `A tokens file of at most fileBytes is read`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/tokens"
            for bytes in [1_023, 1_024, 1_025] {
                let text = #"{"tokens":[]}"#
                let padded = text + String(repeating: " ", count: bytes - text.utf8.count)
                try Data(padded.utf8).write(to: URL(fileURLWithPath: path))
                let flags = ["--tokens", path, "--file-bytes", "1024"]
                if bytes <= 1_024 {
                    try await Program.serve(
                        store: folder + "/s.sqlite", folder: folder, flags: flags
                    ) { _, _ in }
                } else {
                    let run = try await Program.run(
                        ["serve", "--listen", "127.0.0.1:0", "--store", folder + "/s.sqlite"]
                            + flags, folder: folder)
                    #expect(run.status == 1)
                    #expect(run.errors.contains("tokens: it is longer than 1024 bytes"))
                }
            }
        }
    }
}
