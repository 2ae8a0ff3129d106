import Foundation
import ServiceDesk
import TestSupport
import Testing

/// Files that a service goes by: which are read, and what tells that one is another.
@Suite struct TrustedFileTests {
    private static func write(_ text: String, _ path: String, _ mode: mode_t = 0o600) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        #expect(chmod(path, mode) == 0)
    }

    /// Why a file is not gone by; nil when it is.
    private static func fault(_ path: String, maximumBytes: Int = 1_000) -> String? {
        do throws(TrustedFile.Fault) {
            _ = try TrustedFile(path: path, maximumBytes: maximumBytes)
            return nil
        } catch {
            return error.description
        }
    }

    /// The file's stamp, as soon as it has one.
    private static func stamp(_ path: String) async throws -> FileStamp {
        while true {
            if let stamp = try TrustedFile(path: path, maximumBytes: 1_000).stamp { return stamp }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    @Test func `A file of at most so many bytes is read, one byte more is refused`() async throws {
        try await withTemporaryFolder { folder in
            for length in [0, 99, 100, 101] {
                let text = String(repeating: "x", count: length)
                try Self.write(text, folder + "/file")
                if length <= 100 {
                    let file = try TrustedFile(path: folder + "/file", maximumBytes: 100)
                    #expect(file.bytes == Array(text.utf8))
                } else {
                    #expect(
                        Self.fault(folder + "/file", maximumBytes: 100)
                            == "it is longer than 100 bytes")
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `What is no regular file is refused at once, behind a link too`() async throws {
        try await withTemporaryFolder { folder in
            #expect(mkfifo(folder + "/pipe", 0o600) == 0)
            for (name, target) in [("zero", "/dev/zero"), ("link", "pipe"), ("self", folder)] {
                #expect(symlink(target, "\(folder)/\(name)") == 0)
            }
            for name in ["pipe", "zero", "link", "self"] {
                #expect(Self.fault("\(folder)/\(name)") == "it is no regular file", "\(name)")
            }
            #expect(
                Self.fault(folder + "/none") == "it cannot be read: No such file or directory")
        }
    }

    @Test func `A file that everybody may write is refused`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/file"
            for mode: mode_t in [0o600, 0o640, 0o644, 0o660, 0o664] {
                try Self.write("x", path, mode)
                #expect(Self.fault(path) == nil, "\(mode)")
            }
            for mode: mode_t in [0o602, 0o666, 0o777] {
                try Self.write("x", path, mode)
                let octal = String(mode, radix: 8)
                #expect(
                    Self.fault(path)
                        == "everybody may write it (mode \(octal)): take that away with chmod o-w")
            }
        }
    }

    /// Why a file does not decide who may log in.
    private static func loginFault(_ path: String) -> String? {
        do throws(TrustedFile.Fault) {
            _ = try TrustedFile(path: path, maximumBytes: 1_000, decidesLogins: true)
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `What decides logins is refused where others than its user may replace it`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let (inner, path) = (folder + "/inner", folder + "/inner/file")
            #expect(mkdir(inner, 0o700) == 0)
            try Self.write("x", path)
            #expect(symlink("inner/file", folder + "/link") == 0)
            for mode: mode_t in [0o700, 0o755, 0o1777, 0o1770] {
                #expect(chmod(inner, mode) == 0)
                #expect(Self.loginFault(path) == nil, "\(String(mode, radix: 8))")
                #expect(Self.loginFault(folder + "/link") == nil)
            }
            for mode: mode_t in [0o770, 0o775, 0o707, 0o777] {
                #expect(chmod(inner, mode) == 0)
                for path in [path, folder + "/link"] {
                    let fault = try #require(Self.loginFault(path))
                    #expect(fault.contains("mode \(String(mode, radix: 8))"), "\(fault)")
                    #expect(fault.contains("chmod go-w"), "\(fault)")
                }
                // Other files of the service only have to be what they are.
                #expect(Self.fault(path) == nil)
            }
            // A link that others may turn elsewhere is no better.
            #expect(chmod(inner, 0o700) == 0)
            #expect(chmod(folder, 0o777) == 0)
            #expect(Self.loginFault(folder + "/link")?.contains("mode 777") == true)
            #expect(chmod(folder, 0o700) == 0)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root gives files to others"))
    func `What decides logins belongs to root or the service's user`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/file"
            try Self.write("x", path)
            #expect(Self.loginFault(path) == nil)
            #expect(chown(path, 65_534, 0) == 0)
            let fault = try #require(Self.loginFault(path))
            #expect(fault.contains("user 65534 owns it") && fault.contains("chown 0"), "\(fault)")
            #expect(Self.fault(path) == nil)
        }
    }

    @Test func `A change shows though length and times are as they were`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/file"
            try Self.write("abc", path)
            var status = stat()
            #expect(stat(path, &status) == 0)
            let before = try await Self.stamp(path)
            #expect(try await Self.stamp(path) == before)
            try Data("xyz".utf8).write(to: URL(fileURLWithPath: path))
            #expect(utimensat(AT_FDCWD, path, [status.st_atim, status.st_mtim], 0) == 0)
            #expect(try await Self.stamp(path) != before)
        }
    }

    @Test func `A file that was changed a moment ago has no stamp yet`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/file"
            // Whoever is stopped for long between writing and reading sees a file that is older.
            var sawNone = false
            for _ in 0..<100 where !sawNone {
                try Self.write("abc", path)
                sawNone = try TrustedFile(path: path, maximumBytes: 10).stamp == nil
            }
            #expect(sawNone)
            _ = try await Self.stamp(path)
        }
    }
}
