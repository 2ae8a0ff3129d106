import Glibc

/// A blocking TCP connection on which a test decides every byte: pieces of lines, silence, the end.
///
///     try RawConnection.with(port: service.port) { raw in
///         try raw.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server.ping\"}\n")
///         try raw.line()       // {"jsonrpc":"2.0","id":1,"result":"pong"}
///     }
public final class RawConnection {
    /// What kept a test from going on.
    public enum Failure: Error, Equatable {
        case system(call: String, number: Int32)
        /// Nothing came for so long.
        case timeout
        /// The other side closed within a line.
        case unterminatedLine(String)
    }

    private let socket: Int32
    private var received: [UInt8] = []
    private var taken = 0
    private var isAtEnd = false
    private let timeoutMilliseconds: Int32

    /// Connects to this machine, runs `body`, closes on every path.
    public static func with<Result>(
        port: Int, timeoutMilliseconds: Int32 = 20_000,
        _ body: (RawConnection) throws -> Result
    ) throws -> Result {
        let connection = try RawConnection(port: port, timeoutMilliseconds)
        defer { close(connection.socket) }
        return try body(connection)
    }

    private init(port: Int, _ timeoutMilliseconds: Int32) throws {
        self.timeoutMilliseconds = timeoutMilliseconds
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let socket = socket
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, size) }
        }
        guard status == 0 else {
            let number = errno
            close(socket)
            throw Failure.system(call: "connect", number: number)
        }
    }

    public func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Sends all bytes; what arrives meanwhile is left where it is, so the other side may block.
    public func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            try wait(for: Int16(POLLOUT))
            let count = bytes.withUnsafeBytes {
                Glibc.send(
                    socket, $0.baseAddress! + sent, bytes.count - sent,
                    Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            if count < 0, errno != EAGAIN { throw Failure.system(call: "send", number: errno) }
            sent += max(count, 0)
        }
    }

    /// Says that nothing more will be sent; answers can still be read.
    public func finishSending() throws {
        guard shutdown(socket, Int32(SHUT_WR)) == 0 else {
            throw Failure.system(call: "shutdown", number: errno)
        }
    }

    /// The next line without its `\n`; nil when the other side has closed behind the last one.
    public func line() throws -> String? {
        var scanned = 0  // bytes behind `taken` that hold no line break
        while true {
            if let end = firstLineFeed(from: taken + scanned) {
                let line = String(decoding: received[taken..<end], as: UTF8.self)
                taken = end + 1
                return line
            }
            scanned = received.count - taken
            guard try receive() else {
                guard taken == received.count else {
                    throw Failure.unterminatedLine(
                        String(decoding: received[taken...], as: UTF8.self))
                }
                return nil
            }
        }
    }

    private func firstLineFeed(from start: Int) -> Int? {
        received.withUnsafeBytes { bytes in
            guard start < bytes.count,
                let found = memchr(bytes.baseAddress! + start, 0x0A, bytes.count - start)
            else { return nil }
            return UnsafeRawPointer(found) - UnsafeRawPointer(bytes.baseAddress!)
        }
    }

    /// So many lines.
    public func lines(_ count: Int) throws -> [String] {
        try (0..<count).compactMap { _ in try line() }
    }

    /// Every line until the other side closes.
    public func remainingLines() throws -> [String] {
        var lines: [String] = []
        while let line = try line() { lines.append(line) }
        return lines
    }

    /// Whether nothing arrives for so long.
    public func isSilent(milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return taken == received.count && poll(&entry, 1, milliseconds) == 0
    }

    /// Takes in what is there, waiting for the first of it; false at the end.
    private func receive() throws -> Bool {
        guard !isAtEnd else { return false }
        try wait(for: Int16(POLLIN))
        if taken == received.count {
            received.removeAll(keepingCapacity: true)
            taken = 0
        }
        let count = withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { buffer in
            let count = recv(socket, buffer.baseAddress!, buffer.count, 0)
            if count > 0 { received.append(contentsOf: buffer[..<count]) }
            return count
        }
        if count < 0 { throw Failure.system(call: "recv", number: errno) }
        isAtEnd = count == 0
        return count > 0
    }

    private func wait(for events: Int16) throws {
        var entry = pollfd(fd: socket, events: events, revents: 0)
        let ready = poll(&entry, 1, timeoutMilliseconds)
        if ready == 0 { throw Failure.timeout }
        if ready < 0 { throw Failure.system(call: "poll", number: errno) }
    }
}
