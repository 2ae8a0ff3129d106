import Glibc

/// One request over a connection of its own, blocking.
public struct HTTPGet: Sendable {
    public let status: Int
    public let head: String
    public let body: String

    /// - Throws: `Failure` when nobody listens there or the answer is no HTTP.
    public init(port: Int, path: String, method: String = "GET") throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
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
        let request = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        _ = Array(request.utf8).withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            answer += buffer[..<count]
        }
        let text = String(decoding: answer, as: UTF8.self)
        guard let end = text.firstRange(of: "\r\n\r\n"),
            let status = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { throw Failure("no HTTP: \(text.prefix(80))") }
        self.status = status
        head = String(text[..<end.lowerBound]).lowercased()
        body = String(text[end.upperBound...])
    }

    public struct Failure: Error, CustomStringConvertible {
        public let description: String

        init(_ description: String) { self.description = description }
    }
}
