import ArgumentParser

/// `HOST:PORT`, an IPv6 host in brackets.
struct Address: ExpressibleByArgument, Sendable, Equatable, CustomStringConvertible {
    var host: String
    var port: Int

    /// "GEOB" on a phone's keys.
    static let standard = Address(host: "127.0.0.1", port: 4362)

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    init?(argument: String) {
        guard let colon = argument.lastIndex(of: ":"),
            let port = Int(argument[argument.index(after: colon)...]), (0...65_535).contains(port)
        else { return nil }
        var host = String(argument[..<colon])
        if host.hasPrefix("[") && host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty else { return nil }
        self.init(host: host, port: port)
    }

    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Whether only this machine can reach it.
    var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }
}
