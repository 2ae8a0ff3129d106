import Listeners
import NIOCore
import Testing

/// A client as limits by address see it.
@Suite struct ClientAddressTests {
    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("255.1.20.3", "255.1.20.3"),
        // An IPv4 client of a socket for both is the same client.
        ("::ffff:10.1.2.3", "10.1.2.3"), ("::ffff:0.0.0.0", "0.0.0.0"),
        ("2001:db8:a:b:c:d:e:f", "2001:db8:a:b::/64"), ("2001:db8:a:b::1", "2001:db8:a:b::/64"),
        ("2001:db8:a:c::1", "2001:db8:a:c::/64"), ("::1", "0:0:0:0::/64"),
        ("fe80::1:2", "fe80:0:0:0::/64"), ("::fffe:10.1.2.3", "0:0:0:0::/64"),
    ])
    func `It is an IPv4 address, or the network of an IPv6 address`(
        _ address: String, _ expected: String
    ) throws {
        let client = try SocketAddress(ipAddress: address, port: 4_362).clientAddress
        #expect(client == expected)
        // The port is none of the client's.
        #expect(try SocketAddress(ipAddress: address, port: 1).clientAddress == expected)
    }

    @Test func `All clients of a socket in the file system are one`() throws {
        let client = try SocketAddress(unixDomainSocketPath: "/tmp/geobucket.socket")
        #expect(client.clientAddress == "local")
    }
}
