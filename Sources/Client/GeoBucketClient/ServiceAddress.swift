/// Where a service listens: `HOST:PORT`, an IPv6 host in brackets.
///
///     ServiceAddress("[::1]:4362")?.host           // "::1"
public struct ServiceAddress: Sendable, Hashable, CustomStringConvertible {
    /// A name or an IP address, without brackets.
    public var host: String
    /// The TCP port.
    public var port: Int

    /// 127.0.0.1:4362, "GEOB" on a phone's keys.
    public static let standard = ServiceAddress(host: "127.0.0.1", port: 4362)

    /// A host without brackets and a port, neither of which is checked.
    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Nil for a text that is not `HOST:PORT`.
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"),
            let port = Int(text[text.index(after: colon)...]), (0...65_535).contains(port)
        else { return nil }
        var host = String(text[..<colon])
        if host.hasPrefix("[") && host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty else { return nil }
        self.init(host: host, port: port)
    }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
