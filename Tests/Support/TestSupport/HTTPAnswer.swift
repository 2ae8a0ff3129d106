import Glibc

/// The answer to one request over a connection of its own, which blocks.
public struct HTTPAnswer: Sendable {
    public let status: Int
    /// The status and the fields, in lower case unless it was asked for as it came.
    public let head: String
    public let body: String
    /// The body as it came.
    public let bytes: [UInt8]

    /// - Throws: `Failure` when nobody listens there or the answer is no HTTP.
    public init(
        port: Int, path: String, method: String = "GET", headers: [String] = [],
        body: String? = nil, keepsCase: Bool = false
    ) throws {
        try self.init(
            port: port, path: path, method: method, headers: headers,
            bytes: body.map { Array($0.utf8) }, keepsCase: keepsCase)
    }

    /// - Parameter bytes: the body of the request.
    /// - Throws: `Failure` when nobody listens there or the answer is no HTTP.
    public init(
        port: Int, path: String, method: String = "GET", headers: [String] = [],
        bytes: [UInt8]?, keepsCase: Bool = false
    ) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw Failure("nobody listens at port \(port)") }
        var lines = ["\(method) \(path) HTTP/1.1", "Connection: close"] + headers
        if !headers.contains(where: { $0.hasPrefix("Host:") }) { lines.append("Host: localhost") }
        if let bytes { lines.append("Content-Length: \(bytes.count)") }
        let head = lines.joined(separator: "\r\n") + "\r\n\r\n"
        let request = Array(head.utf8) + (bytes ?? [])
        let sent = request.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard sent == request.count else { throw Failure("sent \(sent) bytes of the request") }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let begin = ContinuousClock.now
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count >= 0 else {
                throw Failure("no end of the answer: \(String(cString: strerror(errno)))")
            }
            guard count > 0 else { break }
            answer += buffer[..<count]
        }
        let text = String(decoding: answer, as: UTF8.self)
        guard let end = text.firstRange(of: "\r\n\r\n"),
            let status = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { throw Failure("no HTTP after \(ContinuousClock.now - begin): \(text.prefix(80))") }
        self.status = status
        let fields = String(text[..<end.lowerBound])
        self.head = keepsCase ? fields : fields.lowercased()
        let start = text[..<end.upperBound].utf8.count
        self.bytes = Array(answer[start...])
        self.body = String(text[end.upperBound...])
    }

    /// The value of a field as it is in `head`; nil without it.
    public func field(_ name: String) -> String? {
        head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name + ": ") }
            .map { String($0.dropFirst(name.utf8.count + 2)) }
    }

    public struct Failure: Error, CustomStringConvertible {
        public let description: String

        init(_ description: String) { self.description = description }
    }
}
