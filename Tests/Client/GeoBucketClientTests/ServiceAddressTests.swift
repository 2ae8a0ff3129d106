import GeoBucketClient
import Testing

/// `HOST:PORT` as text.
@Suite struct ServiceAddressTests {
    @Test(arguments: [
        ("localhost:4362", "localhost", 4_362), ("10.0.0.1:1", "10.0.0.1", 1),
        ("[::1]:4362", "::1", 4_362), ("[fe80::1%eth0]:65535", "fe80::1%eth0", 65_535),
        ("a:0", "a", 0),
    ])
    func `a text is read and written back`(_ text: String, _ host: String, _ port: Int) {
        let address = ServiceAddress(text)
        #expect(address == ServiceAddress(host: host, port: port))
        #expect(address?.description == text)
    }

    @Test func `a name in brackets is the name`() {
        #expect(ServiceAddress("[localhost]:7") == ServiceAddress("localhost:7"))
    }

    @Test func `a failure names an IPv6 address with brackets`() {
        let unreachable = ClientFailure.unreachable(host: "::1", port: 7_499, reason: "r")
        #expect(unreachable.description.contains("no service answers at [::1]:7499 (r)"))
        let insecure = ClientFailure.insecure(host: "::1", port: 7_499, reason: "r")
        #expect(insecure.description == "no secure connection to [::1]:7499: r")
    }

    @Test(arguments: [
        "", ":", "localhost", "localhost:", ":4362", "[]:4362", "::1:4362", "[::1]", "[::1]4362",
        "[::1:4362", "::1]:4362", "localhost:65536", "localhost:-1",
        "localhost:99999999999999999999",
        "localhost:4362 ", "localhost: 4362", "localhost:43x2", "localhost:0x10", "localhost:４３",
        "a:b:1", "http://localhost:4362",
    ])
    func `what is no host and port is no address`(_ text: String) {
        #expect(ServiceAddress(text) == nil)
    }
}
