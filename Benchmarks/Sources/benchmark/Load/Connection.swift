import Glibc

/// A socket with one request under way, or several that were sent at once.
final class Connection {
    let fd: Int32
    private var framer: Framer
    private var buffer: UnsafeMutableRawBufferPointer
    private var count = 0
    /// When the request under way was, or should have been, sent.
    var startedAt: UInt64 = 0
    /// Requests that were sent and are not all answered.
    private(set) var requests = 0
    var isBusy = false

    /// Connects to a port of this machine.
    init(port: Int, framing: Framing) throws {
        framer = Framer(framing)
        buffer = .allocate(byteCount: 64 * 1_024, alignment: 8)
        fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(fd, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw Failure("no connection to port \(port): \(reason())") }
        var one: Int32 = 1
        setsockopt(fd, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit {
        close(fd)
        buffer.deallocate()
    }

    /// The bytes of the answer that was received last.
    var answer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[..<count]) }

    /// Whether the last answer was an error.
    var isFailure: Bool { framer.isFailure }

    /// Sends so many requests at once; they are small enough for the socket to take them whole.
    func send(_ bytes: UnsafeRawBufferPointer, requests: Int = 1) throws {
        framer.reset()
        framer.expect(requests)
        self.requests = requests
        count = 0
        isBusy = true
        var sent = 0
        while sent < bytes.count {
            let written = Glibc.send(
                fd, bytes.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
            guard written > 0 else { throw Failure("a peer closed its connection: \(reason())") }
            sent += written
        }
    }

    /// Reads what there is, at least one byte; true when every answer is there.
    func receive() throws -> Bool {
        if count == buffer.count {
            let larger = UnsafeMutableRawBufferPointer.allocate(
                byteCount: buffer.count * 2, alignment: 8)
            larger.copyMemory(from: UnsafeRawBufferPointer(buffer))
            buffer.deallocate()
            buffer = larger
        }
        let received = recv(fd, buffer.baseAddress! + count, buffer.count - count, 0)
        guard received > 0 else { throw Failure("a peer closed its connection: \(reason())") }
        count += received
        guard framer.isComplete(answer) else { return false }
        isBusy = false
        return true
    }

    /// One request and its answer.
    func ask(_ request: [UInt8]) throws -> [UInt8] {
        try request.withUnsafeBytes { try send($0) }
        while !(try receive()) {}
        if isFailure {
            throw Failure("refused: " + String(decoding: answer.prefix(300), as: UTF8.self))
        }
        return Array(answer)
    }

    /// Sends several requests at once and reads as many answers.
    func exchange(_ requests: [UInt8], answers: Int) throws {
        try requests.withUnsafeBytes { try send($0, requests: answers) }
        while !(try receive()) {}
        if isFailure { throw Failure("a peer refused one of \(answers) requests") }
    }

    private func reason() -> String { String(cString: strerror(errno)) }
}

/// Why a benchmark cannot go on.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
