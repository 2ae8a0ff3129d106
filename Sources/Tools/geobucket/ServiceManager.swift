import Glibc

/// The service manager that started this process, such as systemd.
enum ServiceManager {
    /// Tells it a state, such as `READY=1`. Does nothing if nobody wants to know.
    ///
    /// - Reference: sd_notify(3).
    static func tell(_ state: String) {
        guard let socketPath = Files.environment("NOTIFY_SOCKET") else { return }
        var path = Array(socketPath.utf8)
        // "@" stands for the zero byte that begins a name without a file.
        if path[0] == UInt8(ascii: "@") { path[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let isWhole = withUnsafeMutableBytes(of: &address.sun_path) { room in
            room.copyBytes(from: path.prefix(room.count))
            return path.count <= room.count
        }
        let socket = Glibc.socket(
            AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard isWhole, socket >= 0 else { return }
        defer { close(socket) }
        let length = MemoryLayout.offset(of: \sockaddr_un.sun_path)! + path.count
        withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = sendto(
                    socket, state, state.utf8.count, Int32(MSG_NOSIGNAL), address,
                    socklen_t(length))
            }
        }
    }
}
