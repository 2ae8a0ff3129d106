import Objects
import TestSupport
import Testing
import WebServer

/// Clients of the web port that ask much and read nothing, or begin much and end nothing.
@Suite(.timeLimit(.minutes(5))) struct CrowdTests {
    private static let file = "GET /map/countries.json HTTP/1.1\r\nHost: localhost\r\n\r\n"

    @Test func `A request waits until the answer before it has been sent`() async throws {
        try await TestService.with(web: Web.open) { service in
            let port = service.webPort
            let put = Web.request("object.put", #"{"bucket":"shops","id":"s1","object":{}}"#)
            let count = Web.request("bucket.count", #"{"bucket":"shops"}"#)
            try await onBlockingThreads {
                try RawConnection.with(port: port) { raw in
                    // More than the kernel takes.
                    try raw.send(
                        String(repeating: Self.file, count: 250)
                            + "POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Web.json)\r\n"
                            + "Content-Length: \(put.utf8.count)\r\n\r\n\(put)")
                    // What others ask is answered meanwhile.
                    for _ in 0..<50 {
                        let answer = try HTTPAnswer(
                            port: port, path: "/rpc", method: "POST", headers: [Web.json],
                            body: count)
                        #expect(answer.body.contains(#""count":0"#))
                    }
                    var answers = 0
                    while answers < 251, let line = try raw.line() {
                        if line.contains("HTTP/1.1 200 OK") { answers += 1 }
                    }
                    while let line = try raw.line(), line != "\r" {}
                    let last = String(decoding: try raw.bytes(60), as: UTF8.self)
                    #expect(last.contains(#""_id":"s1""#), "\(last)")
                }
            }
        }
    }

    @Test func `Requests that are begun and not ended keep nobody out`() async throws {
        var limits = Limits()
        (limits.webConnections, limits.webConnectionsPerAddress) = (5, 5)
        try await TestService.with(limits: limits, web: Web.open) { service in
            let port = service.webPort
            try await onBlockingThreads {
                try RawConnection.with(port: port, count: 5) { many in
                    for raw in many {
                        try raw.send("GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n")
                        #expect(try raw.line()?.hasPrefix("HTTP/1.1 404") == true)
                        try raw.send(
                            "POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Web.json)\r\n"
                                + "Content-Length: 100\r\n\r\n{")
                    }
                    for _ in 0..<10 {
                        #expect(try HTTPAnswer(port: port, path: "/login").status == 200)
                    }
                }
            }
        }
    }

    @Test func `Streams of one address leave room for others`() async throws {
        var limits = Limits()
        (limits.webConnections, limits.streamsPerPrincipal) = (5, 100)
        try await TestService.with(limits: limits, web: Web.open) { service in
            try await Web.fill(service, 1)
            let port = service.webPort
            try await onBlockingThreads {
                try RawConnection.with(port: port, count: 4) { many in
                    for raw in many {
                        #expect(try Web.Stream(raw, "bucket=shops").next()?.name == "snapshot")
                    }
                    // Four fifths of the connections are this address's.
                    try RawConnection.with(port: port) { raw in
                        try? raw.send(Self.file)
                        #expect((try? raw.line()).flatMap { $0 } == nil)
                    }
                    try RawConnection.with(port: port, from: "127.0.0.2") { raw in
                        try raw.send(Self.file)
                        #expect(try raw.line()?.hasPrefix("HTTP/1.1 200") == true)
                    }
                }
            }
        }
    }

    @Test func `A request to the data names one host`() async throws {
        try await TestService.with(web: Web.open) { service in
            let port = service.webPort
            try await onBlockingThreads {
                for (hosts, status) in [(0, 400), (1, 200), (2, 400)] {
                    try RawConnection.with(port: port) { raw in
                        let lines =
                            ["GET /map HTTP/1.1"]
                            + Array(repeating: "Host: localhost", count: hosts)
                        try raw.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
                        #expect(try raw.line()?.hasPrefix("HTTP/1.1 \(status) ") == true)
                        if status == 400 {
                            let rest = try raw.remainingBytes()
                            let text = String(decoding: rest, as: UTF8.self)
                            #expect(text.contains(#""message":"expected one Host""#), "\(text)")
                        }
                    }
                }
            }
        }
    }
}
