import GeoBucketClient
import Glibc

/// What answers at an address where this service's protocol was expected: another port of the
/// service, the same port in TLS, or another program.
enum AnsweringPort {
    case lines, linesInTLS, monitoring, http, tls
    /// Its first words.
    case other(String)
    case nothing

    /// What it answers to a request of this protocol, and to one of HTTP if it speaks that.
    static func heard(at address: Address) -> AnsweringPort {
        let ping = #"{"jsonrpc":"2.0","id":1,"method":"server.ping"}"# + "\n"
        let answer = Exchange(with: address)?.answer(to: Array(ping.utf8)) ?? []
        // The first byte of a record with an alert.
        if answer.first == 0x15 { return .tls }
        let text = String(decoding: answer, as: UTF8.self)
        if text.hasPrefix("HTTP/") { return isAlive(address) ? .monitoring : .http }
        if text.contains("\"this port speaks TLS") { return .linesInTLS }
        if text.hasPrefix("{\"jsonrpc\"") { return .lines }
        let words = text.unicodeScalars.prefix { (0x20..<0x7F).contains($0.value) }.prefix(40)
        return words.isEmpty ? .nothing : .other("\(String.UnicodeScalarView(words))")
    }

    /// Whether a port of HTTP is the one for health and metrics.
    private static func isAlive(_ address: Address) -> Bool {
        let request = "GET /healthz HTTP/1.1\r\nHost: geobucket\r\nConnection: close\r\n\r\n"
        let answer = Exchange(with: address)?.answer(to: Array(request.utf8)) ?? []
        return String(decoding: answer, as: UTF8.self).hasSuffix("alive\n")
    }

    /// What to do after a call has failed; nil if the port is the right one, or nothing answers.
    ///
    /// - Parameter usesTLS: whether the call used TLS.
    func advice(after failure: ClientFailure, _ address: Address, usesTLS: Bool) -> String? {
        let port = "commands take port \(Address.standard.port), or that of the service's --listen"
        switch self {
        case .lines where usesTLS:
            return "\(address) speaks no TLS: leave out --tls, or write geobucket://"
        case .linesInTLS where !usesTLS:
            return "\(address) speaks TLS: give --tls, with --tls-ca for its root"
        case .tls where !usesTLS:
            return "\(address) speaks TLS: give --tls; or if it is the web port (--web), \(port)"
        case .tls:
            guard case .malformedAnswer = failure else { return nil }
            return "\(address) speaks something else in TLS, perhaps HTTP (--web); \(port)"
        case .monitoring:
            return "\(address) is the port for health and metrics (--http); \(port)"
        case .http: return "\(address) speaks HTTP, as the web port does (--web); \(port)"
        case .other(let words): return "\(address) speaks something else (\"\(words)\"); \(port)"
        case .lines, .linesInTLS, .nothing: return nil
        }
    }
}

/// A connection for one request and its answer.
private struct Exchange: ~Copyable {
    private let descriptor: Int32

    /// Nil if nothing takes the connection.
    init?(with address: Address) {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address.host, "\(address.port)", &hints, &found) == 0 else { return nil }
        defer { freeaddrinfo(found) }
        var next = found
        while let info = next?.pointee {
            if let descriptor = Self.connection(to: info) {
                self.descriptor = descriptor
                return
            }
            next = info.ai_next
        }
        return nil
    }

    /// A connection on which no step takes more than two seconds.
    private static func connection(to info: addrinfo) -> Int32? {
        let descriptor = socket(info.ai_family, info.ai_socktype, info.ai_protocol)
        guard descriptor >= 0 else { return nil }
        var time = timeval(tv_sec: 2, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            let size = socklen_t(MemoryLayout<timeval>.size)
            setsockopt(descriptor, SOL_SOCKET, option, &time, size)
        }
        guard connect(descriptor, info.ai_addr, info.ai_addrlen) == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// The first line that comes back, or of HTTP everything, up to 4 KiB.
    func answer(to request: [UInt8]) -> [UInt8] {
        guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) > 0 else {
            return []
        }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4_096)
        while bytes.count < piece.count {
            let count = recv(descriptor, &piece, piece.count, 0)
            guard count > 0 else { break }
            bytes += piece[..<count]
            if !bytes.starts(with: Array("HTTP/".utf8)) { break }
        }
        return bytes
    }

    deinit { close(descriptor) }
}
