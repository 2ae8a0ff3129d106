import NIOCore
import Testing

@testable import QueryServer

/// What proxies say of connections, and which are believed.
@Suite struct ProxyHeaderTests {
    static let signature: [UInt8] = Array("\r\n\r\n\u{0}\r\nQUIT\n".utf8)
    private static let v4: [UInt8] = [192, 0, 2, 7, 10, 0, 0, 1, 0x30, 0x39, 0x11, 0x0A]
    private static let v6: [UInt8] =
        [0x20, 0x01, 0x0D, 0xB8] + Array(repeating: 0, count: 11) + [7]
        + Array(repeating: 0, count: 15) + [1, 0x30, 0x39, 0x11, 0x0A]

    static func block(_ command: UInt8, _ family: UInt8, _ block: [UInt8]) -> [UInt8] {
        signature + [command, family, UInt8(block.count >> 8), UInt8(block.count & 255)] + block
    }

    /// What a header says: an address, `itself`, `no header`, or `incomplete`.
    private static func outcome(_ bytes: [UInt8]) -> (said: String, rest: [UInt8]) {
        var buffer = ByteBuffer(bytes: bytes)
        do throws(ProxyHeader.Fault) {
            guard let header = try ProxyHeader(from: &buffer) else { return ("incomplete", []) }
            return (
                header.client.map { "\($0.ipAddress ?? "") \($0.port ?? 0)" } ?? "itself",
                Array(buffer.readableBytesView)
            )
        } catch {
            return ("no header", [])
        }
    }

    @Test(arguments: [
        (block(0x21, 0x11, v4), "192.0.2.7 12345"), (block(0x21, 0x21, v6), "2001:db8::7 12345"),
        // Further particulars behind the addresses.
        (block(0x21, 0x11, v4 + [4, 0, 1, 0]), "192.0.2.7 12345"),
        (block(0x20, 0x00, []), "itself"), (block(0x20, 0x11, v4), "itself"),
        (block(0x21, 0x00, []), "itself"),
        (block(0x21, 0x31, Array(repeating: 1, count: 216)), "itself"),
        (Array("PROXY TCP4 192.0.2.7 10.0.0.1 12345 4362\r\n".utf8), "192.0.2.7 12345"),
        (Array("PROXY TCP6 2001:db8::7 ::1 12345 4362\r\n".utf8), "2001:db8::7 12345"),
        (Array("PROXY UNKNOWN\r\n".utf8), "itself"),
        (Array("PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n".utf8), "itself"),
    ])
    func `A header is taken, in whatever pieces it comes, and what follows is left`(
        _ header: [UInt8], _ said: String
    ) {
        for count in header.indices {
            #expect(Self.outcome(Array(header[..<count])).said == "incomplete", "\(count)")
        }
        for rest in [[], [0x7B], Array("{}\n".utf8)] as [[UInt8]] {
            let outcome = Self.outcome(header + rest)
            #expect(outcome.said == said && outcome.rest == rest)
        }
    }

    @Test(
        arguments: [
            Array("{}".utf8), Array("GET / HTTP/1.1\r\n".utf8), [0x16, 0x03, 0x01],
            Array("\r\n\r\n{".utf8), Array("PROXX".utf8), Array("PROXY TCP4\r\n".utf8),
            Array("PROXY TCP4 a b 1 2\r\n".utf8), Array("PROXY TCP4 1.2.3.4 1.2.3.4 1 2\n".utf8),
            Array("PROXY TCP4 1.2.3.4 1.2.3.4 70000 2\r\n".utf8),
            Array("PROXY TCP4 \(String(repeating: "1", count: 107))".utf8),
            block(0x11, 0x11, v4), block(0x22, 0x11, v4), block(0x21, 0x11, Array(v4.dropLast())),
            block(0x21, 0x21, v4), signature + [0x21, 0x11, 0xFF, 0xFF],
        ] as [[UInt8]])
    func `Anything else is no header`(_ bytes: [UInt8]) {
        #expect(Self.outcome(bytes).said == "no header")
    }

    @Test func `A proxy is known by its address or its network`() throws {
        let proxies = try TrustedProxies("10.1.2.0/23, 192.0.2.7,fd00::/8, ::1, 172.16.0.0/12")
        for (address, isTrusted) in [
            ("10.1.2.0", true), ("10.1.3.255", true), ("10.1.4.0", false), ("10.1.1.255", false),
            ("192.0.2.7", true), ("192.0.2.8", false), ("fdff::1", true), ("fe00::1", false),
            ("::1", true), ("::2", false), ("::ffff:10.1.2.3", true), ("::ffff:10.1.4.3", false),
            ("172.31.255.255", true), ("172.32.0.0", false),
        ] {
            let address = try SocketAddress(ipAddress: address, port: 1)
            #expect(proxies.contains(address) == isTrusted, "\(address)")
        }
        #expect(!proxies.contains(nil))
        #expect(try !TrustedProxies().contains(.init(ipAddress: "::1", port: 1)))
        #expect(try TrustedProxies("0.0.0.0/0").contains(.init(ipAddress: "9.9.9.9", port: 1)))
        for text in [
            "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0/8", "host", "::/129", "1.2.3.4/8/9",
        ] {
            #expect(throws: TrustedProxies.Fault.self, "\(text)") { try TrustedProxies(text) }
        }
    }
}
