import HTTPTypes
import NIOCore
import QueryServer
import WebExchange

extension TrustedProxies {
    /// Where the client of a request is: where the connection comes from or, if that is a proxy, where
    /// the proxies say that they have it from, as far as they are trusted.
    ///
    /// Each proxy appends to the field from where it was asked; what stands before that is anybody's. A
    /// request without such a field is the proxy's own.
    ///
    /// - Throws: 400 when `Forwarded` and `X-Forwarded-For` tell different clients, because one of
    ///   them comes from a client that the proxy did not stop.
    /// - Reference: RFC 7239.
    func client(
        behind peer: SocketAddress?, by fields: HTTPFields
    ) throws(WebFailure) -> SocketAddress? {
        guard contains(peer) else { return peer }
        let lists = [
            fields[Self.forwarded].map { $0.split(separator: ",").map(Self.node) },
            fields[Self.forwardedFor].map { $0.split(separator: ",").map { Self.address($0) } },
        ]
        let clients = lists.compactMap { $0.map { client(in: $0, behind: peer) } }
        guard Set(clients.map { $0?.clientAddress }).count <= 1 else {
            throw WebFailure(
                .badRequest, "INVALID_REQUEST",
                "Forwarded and X-Forwarded-For name different clients")
        }
        return clients.first ?? peer
    }

    /// The last address that is no trusted proxy's, or the one before which the addresses end.
    private func client(in list: [SocketAddress?], behind peer: SocketAddress?) -> SocketAddress? {
        var client = peer
        for address in list.reversed() {
            guard let address else { return client }
            client = address
            if !contains(address) { return client }
        }
        return client
    }

    private static let forwarded = HTTPField.Name("Forwarded")!
    private static let forwardedFor = HTTPField.Name("X-Forwarded-For")!

    /// The address in one element of `Forwarded`: `for="[2001:db8::1]:4711";proto=https`.
    private static func node(_ element: Substring) -> SocketAddress? {
        for pair in element.split(separator: ";") {
            let pair = pair.trimmed
            if pair.lowercased().hasPrefix("for=") {
                return address(pair.dropFirst(4).filter { $0 != "\"" }[...])
            }
        }
        return nil
    }

    /// An address, with or without a port and brackets.
    private static func address(_ text: Substring) -> SocketAddress? {
        var text = text.trimmed[...]
        if text.hasPrefix("[") {
            text = text.dropFirst().prefix { $0 != "]" }
        } else if text.contains("."), let colon = text.firstIndex(of: ":"),
            text.lastIndex(of: ":") == colon
        {
            text = text[..<colon]
        }
        return try? SocketAddress(ipAddress: String(text), port: 0)
    }
}
