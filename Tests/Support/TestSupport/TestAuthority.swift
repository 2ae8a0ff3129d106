import CGlibc
import Foundation
import Glibc

/// Certificates of an authority that a test makes up, by the program `openssl`.
public struct TestAuthority: Sendable {
    public struct Identity: Sendable {
        public let certificate: String
        public let key: String
    }

    /// The authority's own certificate.
    public var certificate: String { path("ca.pem") }
    private let folder: String

    private func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// - Parameter folder: an existing one, for this authority alone.
    public init(folder: String) throws {
        self.folder = folder
        try openssl(
            ["req", "-x509", "-newkey"] + Self.curve + [
                "-nodes", "-keyout", path("ca.key"), "-out", path("ca.pem"), "-days", "30", "-subj",
                "/CN=Test",
            ])
    }

    /// The arguments of `openssl req` for a key on a curve.
    public static let curve = ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]

    /// A certificate signed by the authority, for this machine unless other names are given.
    ///
    /// - Parameter key: the kind of the key, as `openssl req -newkey` takes it.
    public func issue(
        _ name: String, names: String = "DNS:localhost,IP:127.0.0.1", key: [String] = curve
    ) throws -> Identity {
        let identity = Identity(certificate: path(name + ".pem"), key: path(name + ".key"))
        try openssl(
            ["req", "-newkey"] + key + [
                "-nodes", "-keyout", identity.key, "-out", path("csr"), "-subj", "/CN=\(name)",
            ])
        try Data("subjectAltName=\(names)\n".utf8)
            .write(to: URL(fileURLWithPath: path("names")))
        try openssl(
            [
                "x509", "-req", "-in", path("csr"), "-CA", path("ca.pem"), "-CAkey", path("ca.key"),
                "-CAcreateserial", "-out", identity.certificate, "-days", "30", "-extfile",
                path("names"),
            ])
        return identity
    }

    private struct Failure: Error {
        let arguments: [String]
    }

    /// Not by Foundation's `Process`, which copies more of each entry of /proc/self/fd than there is: now
    /// and then that ends a process that has many files open.
    private func openssl(_ arguments: [String]) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for file in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_addopen(&actions, file, "/dev/null", O_RDWR, 0)
        }
        gb_close_from(&actions, 3)
        let words = (["openssl"] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var (pid, status): (pid_t, Int32) = (0, 0)
        guard posix_spawn(&pid, "/usr/bin/openssl", &actions, nil, words, environ) == 0,
            waitpid(pid, &status, 0) == pid, status == 0
        else { throw Failure(arguments: arguments) }
    }
}
