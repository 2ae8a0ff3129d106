import HTTPTypes
import NIOCore
import QueryServer
import Testing
import WebExchange

@testable import WebServer

/// Where a request comes from, as proxies tell it.
@Suite struct ForwardedForTests {
    private static func client(
        _ fields: [(String, String)], from peer: String = "10.0.0.1"
    ) throws -> String {
        var headers = HTTPFields()
        for (name, value) in fields { headers[HTTPField.Name(name)!] = value }
        let proxies = try TrustedProxies("10.0.0.0/8, fd00::/8")
        do throws(WebFailure) {
            let client = try proxies.client(
                behind: try? SocketAddress(ipAddress: peer, port: 5), by: headers)
            return client?.ipAddress ?? "none"
        } catch {
            return "\(error.status.code)"
        }
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("192.0.2.9, 192.0.2.1", "192.0.2.1"),
        ("192.0.2.9,192.0.2.1,10.9.9.9 , fd00::1", "192.0.2.1"), ("10.2.2.2, 10.3.3.3", "10.2.2.2"),
        ("192.0.2.1:4711", "192.0.2.1"), ("2001:db8::1", "2001:db8::1"),
        ("[2001:db8::1]:4711", "2001:db8::1"), ("unknown", "10.0.0.1"), ("", "10.0.0.1"),
        ("192.0.2.1, unknown", "10.0.0.1"), ("192.0.2.1, x, 10.3.3.3", "10.3.3.3"),
        ("192.0.2.1, 192.0.2.2/8", "10.0.0.1"),
    ])
    func `X-Forwarded-For is read from its end, as far as proxies are trusted`(
        _ value: String, _ expected: String
    ) throws {
        #expect(try Self.client([("X-Forwarded-For", value)]) == expected)
        #expect(try Self.client([("X-Forwarded-For", value)], from: "192.0.2.99") == "192.0.2.99")
    }

    @Test(arguments: [
        ("for=192.0.2.1", "192.0.2.1"),
        ("For=\"192.0.2.1:80\";proto=https;by=10.0.0.1", "192.0.2.1"),
        ("proto=http;for=\"[2001:db8::1]:4711\"", "2001:db8::1"),
        ("for=192.0.2.9, for=192.0.2.1;host=a, for=10.3.3.3", "192.0.2.1"),
        // A quote that a client has opened does not swallow what the proxy says.
        ("for=\"192.0.2.9, for=192.0.2.1", "192.0.2.1"), ("for=_hidden", "10.0.0.1"),
        ("by=192.0.2.1", "10.0.0.1"),
    ])
    func `Forwarded is read in the same way`(_ value: String, _ expected: String) throws {
        #expect(try Self.client([("Forwarded", value)]) == expected)
    }

    @Test func `Two fields that disagree are refused, as one of them is the client's own`() throws {
        #expect(
            try Self.client([("Forwarded", "for=192.0.2.9"), ("X-Forwarded-For", "192.0.2.1")])
                == "400")
        #expect(
            try Self.client([("Forwarded", "for=192.0.2.1"), ("X-Forwarded-For", "192.0.2.1")])
                == "192.0.2.1")
        #expect(try Self.client([]) == "10.0.0.1")
    }
}
