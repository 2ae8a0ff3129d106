import NIOCore

extension SocketAddress {
    /// The client as limits by address see it: an IPv4 address, or the 64-bit network of an IPv6
    /// address, because one household has the whole network.
    package var clientAddress: String {
        guard case .v6(let address) = self else { return ipAddress ?? "local" }
        let bytes = withUnsafeBytes(of: address.address.sin6_addr) { Array($0) }
        if bytes[..<12] == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF] {
            return bytes[12...].map(String.init).joined(separator: ".")
        }
        let network = stride(from: 0, to: 8, by: 2).map {
            String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16)
        }
        return network.joined(separator: ":") + "::/64"
    }
}
