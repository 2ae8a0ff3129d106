import Foundation
import TestSupport
import Testing

/// What a service does under a service manager such as systemd.
@Suite(.timeLimit(.minutes(10))) struct ServiceManagerTests {
    @Test(arguments: ["", "@"])
    func `The service manager is told when the service is ready, and when it stops`(
        prefix: String
    ) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/notify"
            let manager = try Self.socket(at: (prefix == "@" ? "\0" : "") + path)
            defer { close(manager) }
            try await Program.serve(
                store: folder + "/s.sqlite", folder: folder,
                environment: ["NOTIFY_SOCKET=\(prefix)\(path)"]
            ) { process, _ in
                let first = try await Self.next(from: manager)
                #expect(first == "READY=1")
                process.signal(SIGTERM)
                let last = try await Self.next(from: manager)
                #expect(last == "STOPPING=1")
                let status = await process.end()
                #expect(status == 0, "\(process.standardError)")
            }
        }
    }

    @Test func `A service that may not give its threads priorities says so once, and serves`()
        async throws
    {
        try await withTemporaryFolder { folder in
            try await Program.serve(
                store: folder + "/s.sqlite", folder: folder,
                environment: ["/usr/bin/python3", "-c", Self.refusingPriorities]
            ) { process, port in
                let ping = try await Program.run(
                    ["call", "server.ping", "--server", "127.0.0.1:\(port)"], folder: folder)
                #expect(ping.status == 0 && ping.output.contains("pong"))
                process.signal(SIGTERM)
                let status = await process.end()
                #expect(status == 0)
                let told = process.standardError.ranges(of: "threads cannot have their priorities")
                #expect(told.count == 1, "\(process.standardError)")
                #expect(process.standardError.contains(#"reason="Operation not permitted""#))
            }
            try await Program.serve(store: folder + "/s.sqlite", folder: folder) { process, _ in
                #expect(!process.standardError.contains("priorities"))
            }
        }
    }

    /// Runs a command whose calls of setpriority(2) fail with EPERM, as under a unit of systemd that
    /// forbids them.
    private static let refusingPriorities = """
        import ctypes, os, platform, struct, sys
        number = 141 if platform.machine() == "x86_64" else 140
        code = b"".join(struct.pack("HBBI", *one) for one in [
            (0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)])
        kept = ctypes.create_string_buffer(code)
        program = struct.pack("HxxxxxxP", 4, ctypes.addressof(kept))
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
        os.execv(sys.argv[1], sys.argv[1:])
        """

    private static func socket(at path: String) throws -> Int32 {
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let length = MemoryLayout.offset(of: \sockaddr_un.sun_path)! + path.utf8.count
        let status = withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(length))
            }
        }
        guard status == 0 else { throw TestFailure(String(cString: strerror(errno))) }
        return socket
    }

    /// The next message; the suite's time limit ends a wait in vain.
    private static func next(from socket: Int32) async throws -> String {
        var bytes = [UInt8](repeating: 0, count: 256)
        while true {
            let count = recv(socket, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            if count > 0 { return String(decoding: bytes[..<count], as: UTF8.self) }
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
