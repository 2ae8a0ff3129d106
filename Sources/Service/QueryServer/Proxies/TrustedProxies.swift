import NIOCore

/// The proxies whose word about the address of a client counts: networks, as `10.0.0.0/8`.
///
///     let proxies = try TrustedProxies("10.0.0.0/8, ::1")
///     proxies.contains(channel.remoteAddress)
public struct TrustedProxies: Sendable {
    private struct Network: Sendable {
        let bytes: [UInt8]
        let bits: Int

        func contains(_ address: [UInt8]) -> Bool {
            guard address.count == bytes.count else { return false }
            let (whole, rest) = bits.quotientAndRemainder(dividingBy: 8)
            guard address[..<whole] == bytes[..<whole] else { return false }
            return rest == 0 || (address[whole] ^ bytes[whole]) >> UInt8(8 - rest) == 0
        }
    }

    /// What is no network.
    public struct Fault: Error, CustomStringConvertible {
        /// A sentence that quotes the text.
        public let description: String
    }

    private var networks: [Network] = []

    /// None.
    public init() {}

    /// - Parameter list: addresses and networks with commas between them.
    /// - Throws: `Fault` for the first that is neither.
    public init(_ list: String) throws(Fault) {
        for text in list.split(separator: ",") {
            let text = text.trimming { $0 == " " }
            guard let network = Self.network(text) else {
                throw Fault(
                    description:
                        "\"\(text)\" is no address and no network, such as 10.0.0.0/8 or fd00::/8")
            }
            networks.append(network)
        }
    }

    private static func network(_ text: Substring) -> Network? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2,
            let bytes = (try? SocketAddress(ipAddress: String(parts[0]), port: 0))?.addressBytes
        else { return nil }
        guard parts.count == 2 else { return Network(bytes: bytes, bits: bytes.count * 8) }
        guard let bits = Int(parts[1]), (0...bytes.count * 8).contains(bits) else { return nil }
        return Network(bytes: bytes, bits: bits)
    }

    /// Whether there are none.
    var isEmpty: Bool { networks.isEmpty }

    /// Whether an address is one of a proxy.
    package func contains(_ address: SocketAddress?) -> Bool {
        guard !networks.isEmpty, let bytes = address?.addressBytes else { return false }
        return networks.contains { $0.contains(bytes) }
    }
}

extension Substring {
    fileprivate func trimming(_ isTrimmed: (Character) -> Bool) -> Substring {
        var text = drop(while: isTrimmed)
        while let last = text.last, isTrimmed(last) { text.removeLast() }
        return text
    }
}

extension SocketAddress {
    /// Four bytes of an IPv4 address, also one inside an IPv6 address, or sixteen.
    var addressBytes: [UInt8]? {
        switch self {
        case .v4(let address):
            return withUnsafeBytes(of: address.address.sin_addr) { Array($0) }
        case .v6(let address):
            let bytes = withUnsafeBytes(of: address.address.sin6_addr) { Array($0) }
            let isMapped = bytes[..<12] == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
            return isMapped ? Array(bytes[12...]) : bytes
        case .unixDomainSocket: return nil
        }
    }
}
