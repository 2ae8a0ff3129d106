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
    private var isClosed = false
    private var received: [UInt8] = []
    private var taken = 0
    private var isAtEnd = false
    private let timeoutMilliseconds: Int32

    /// See ``hangTime``.
    public static let hangMilliseconds = Int32(hangTime / .milliseconds(1))

    /// Connects to this machine, runs `body`, closes on every path.
    public static func with<Result>(
        port: Int, from host: String = "127.0.0.1", timeoutMilliseconds: Int32 = hangMilliseconds,
        _ body: (RawConnection) throws -> Result
    ) throws -> Result {
        let connection = try RawConnection(port: port, from: host, timeoutMilliseconds)
        defer { connection.close() }
        return try body(connection)
    }

    /// As `with(port:…)`, around what waits for something else meanwhile.
    public static func during<Result>(
        port: Int, from host: String = "127.0.0.1",
        _ body: (RawConnection) async throws -> Result
    ) async throws -> Result {
        let connection = try RawConnection(port: port, from: host, Self.hangMilliseconds)
        defer { connection.close() }
        return try await body(connection)
    }

    /// As `during(port:…)`, with so many connections.
    public static func during(
        port: Int, count: Int, _ body: ([RawConnection]) async throws -> Void
    ) async throws {
        var connections: [RawConnection] = []
        defer { for connection in connections { connection.close() } }
        for _ in 0..<count {
            connections.append(
                try RawConnection(port: port, from: "127.0.0.1", Self.hangMilliseconds))
        }
        try await body(connections)
    }

    /// As `with(port:…)`, with so many connections.
    public static func with(port: Int, count: Int, _ body: ([RawConnection]) throws -> Void) throws
    {
        var connections: [RawConnection] = []
        defer { for connection in connections { connection.close() } }
        for _ in 0..<count {
            connections.append(
                try RawConnection(port: port, from: "127.0.0.1", Self.hangMilliseconds))
        }
        try body(connections)
    }

    private init(port: Int, from host: String, _ timeoutMilliseconds: Int32) throws {
        self.timeoutMilliseconds = timeoutMilliseconds
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let socket = socket
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = [(host, 0, Glibc.bind), ("127.0.0.1", port, connect)].allSatisfy {
            (host, port, call) in
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(port).bigEndian
            inet_pton(AF_INET, host, &address.sin_addr)
            return withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { call(socket, $0, size) == 0 }
            }
        }
        guard isConnected else {
            let number = errno
            Glibc.close(socket)
            throw Failure.system(call: "connect", number: number)
        }
    }

    /// Closes before the body ends; nothing can be asked afterwards.
    public func close() {
        if !isClosed { Glibc.close(socket) }
        isClosed = true
    }

    /// Has the connection reset, not ended, when it is closed.
    public func resetOnClose() throws {
        var option = linger(l_onoff: 1, l_linger: 0)
        let size = socklen_t(MemoryLayout<linger>.size)
        guard setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, size) == 0 else {
            throw Failure.system(call: "setsockopt", number: errno)
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

    /// All bytes until the other side closes.
    public func remainingBytes() throws -> [UInt8] {
        while try receive() {}
        return Array(received[taken...])
    }

    /// So many bytes.
    public func bytes(_ count: Int) throws -> [UInt8] {
        while received.count - taken < count {
            guard try receive() else { throw Failure.unterminatedLine("\(count) bytes") }
        }
        defer { taken += count }
        return Array(received[taken..<taken + count])
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
