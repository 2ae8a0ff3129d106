import Glibc

/// The host that a client has asked for, by name or address.
struct Authority {
    let host: String

    /// - Parameter text: `HOST`, `HOST:PORT`, an IPv6 host in brackets.
    init(_ text: some StringProtocol) {
        let host =
            text.hasPrefix("[")
            ? text.dropFirst().prefix { $0 != "]" } : text.prefix { $0 != ":" }
        self.host = host.lowercased()
    }

    /// Whether the host is this machine, by a name that no name server answers for.
    var isLoopback: Bool {
        if let address = ipv4 { return address >> 24 == 127 }
        return host == "localhost" || host.hasSuffix(".localhost") || host == "::1"
    }

    /// Whether the host is an address, which no name server gives.
    var isAddress: Bool {
        var address = in6_addr()
        return ipv4 != nil || inet_pton(AF_INET6, host, &address) == 1
    }

    /// Whether the host is a name that only the network around it knows.
    var isLocalName: Bool { !host.isEmpty && !host.contains(".") && !host.contains(":") }

    /// - Parameter url: `https://HOST…`
    func isHost(of url: String) -> Bool {
        guard let start = url.firstRange(of: "://") else { return false }
        return host == Authority(url[start.upperBound...].prefix { $0 != "/" }).host
    }

    private var ipv4: UInt32? {
        var address = in_addr()
        return inet_pton(AF_INET, host, &address) == 1 ? UInt32(bigEndian: address.s_addr) : nil
    }
}
