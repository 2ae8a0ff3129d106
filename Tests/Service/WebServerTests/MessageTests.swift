import GeoBucketClient
import JSONText
import Objects
import TestSupport
import Testing

/// `POST /rpc`: the answers are those of the line protocol.
@Suite(.timeLimit(.minutes(5))) struct MessageTests {
    private static let lines = [
        Web.request("bucket.count", #"{"bucket":"shops"}"#),
        Web.request(
            "bucket.query",
            #"{"bucket":"shops","bucketQuery":{"clause":{"type":"geodistance","field":"at","center":{"_type":"point","lat":0,"lon":3},"radius":300000,"putDistanceInto":"d"}}}"#
        ),
        Web.request("bucket.query", #"{"bucket":"shops","bestEffortLimit":3}"#),
        Web.request("bucket.query", #"{"bucket":"shops","bucketQuery":{"clause":{"type":"no"}}}"#),
        Web.request("object.get", #"{"bucket":"shops","id":"absent"}"#),
        Web.request("nothing.known", "{}"), Web.request("bucket.count", "[1]"),
        #"{"jsonrpc":"2.0","id":"a\"b","method":"server.ping"}"#, "{", "[]", "7", "[1,{}]",
        #"{"jsonrpc":"1.0","id":4,"method":"server.ping"}"#,
        "[\(Web.request("bucket.count", #"{"bucket":"shops"}"#)),"
            + #"{"jsonrpc":"2.0","method":"server.ping"},"#
            + Web.request("bucket.list", "{}", id: 2) + "]",
    ]

    @Test(arguments: lines)
    func `A message has the answer that a line has`(line: String) async throws {
        try await TestService.with(web: Web.open) { service in
            try await Web.fill(service, 10)
            let answer = try await Web.rpc(service.webPort, line)
            let expected = try await onBlockingThreads {
                try RawConnection.with(port: service.port) { raw in
                    try raw.send(line + "\n")
                    return try raw.line()
                }
            }
            #expect(answer.status == 200)
            #expect(answer.field("content-type") == "application/json")
            #expect(answer.body == expected)
        }
    }

    @Test func `Line breaks between the members of a message do no harm`() async throws {
        try await TestService.with(web: Web.open) { service in
            let text = "{\"jsonrpc\":\"2.0\",\r\n\"id\":1,\n\"method\":\"server.ping\"}\n"
            let answer = try await Web.rpc(service.webPort, text)
            #expect(answer.body == #"{"jsonrpc":"2.0","id":1,"result":"pong"}"#)
        }
    }

    @Test func `Notifications alone are answered without a body`() async throws {
        try await TestService.with(web: Web.open) { service in
            let ping = #"{"jsonrpc":"2.0","method":"server.ping"}"#
            for text in [ping, "[\(ping),\(ping)]"] {
                let answer = try await Web.rpc(service.webPort, text)
                #expect(answer.status == 204)
                #expect(answer.body.isEmpty)
            }
        }
    }

    @Test func `A batch writes in order, and its reads see the writes before them`() async throws {
        try await TestService.with(web: Web.open) { service in
            var requests: [String] = []
            for number in 0..<50 {
                requests.append(
                    Web.request(
                        "object.put",
                        #"{"bucket":"batch","id":"one","object":{"n":\#(number)}}"#, id: number))
                if number % 10 == 9 {
                    requests.append(
                        Web.request("object.get", #"{"bucket":"batch","id":"one"}"#, id: -number))
                }
            }
            let answer = try await Web.rpc(
                service.webPort, "[\(requests.joined(separator: ","))]")
            let answers = try JSONValue(parsing: Array(answer.body.utf8)).array ?? []
            #expect(answers.count == requests.count)
            var version = 0
            for answer in answers {
                let id = answer["id"]?.int ?? .min
                let result = answer["result"]
                if id >= 0 && answer["result"]?["n"] == nil {
                    version += 1
                    #expect(result?["_version"]?.int == version)
                } else {
                    #expect(result?["n"]?.int == -id)
                }
            }
            #expect(version == 50)
        }
    }

    @Test func `The methods of a connection are refused`() async throws {
        try await TestService.with(web: Web.open) { service in
            for method in ["auth.login", "watch.start", "watch.move", "watch.sync", "watch.stop"] {
                let params = #"{"bucket":"shops","watch":"w1","token":"t","bucketQuery":{}}"#
                let answer = try await Web.rpc(service.webPort, Web.request(method, params))
                #expect(answer.status == 200)
                #expect(answer.body.contains(#""errorCode":"INVALID_REQUEST""#), "\(answer.body)")
            }
        }
    }

    @Test func `Answers of a batch that are too long end it`() async throws {
        var limits = Limits()
        limits.outputBytes = 8_192
        try await TestService.with(limits: limits, web: Web.open) { service in
            try await Web.fill(service, 100)
            let query = Web.request("bucket.query", #"{"bucket":"shops"}"#)
            let answer = try await Web.rpc(
                service.webPort, "[\(Array(repeating: query, count: 5).joined(separator: ","))]")
            #expect(answer.status == 413)
            #expect(answer.body.contains(#""errorCode":"LINE_TOO_LONG""#))
            #expect(answer.body.contains("first 1 requests"), "\(answer.body)")
        }
    }

    @Test func `Bodies and heads are bounded`() async throws {
        var limits = Limits()
        (limits.lineBytes, limits.webHeadBytes) = (2_048, 2_048)
        try await TestService.with(limits: limits, web: Web.open) { service in
            let long = String(repeating: " ", count: 2_049)
            let answer = try await Web.rpc(service.webPort, long)
            #expect(answer.status == 413)
            #expect(answer.body.contains(#""errorCode":"LINE_TOO_LONG""#))
        }
    }

    @Test(arguments: [3_000, 100_000])
    func `A head that is too long is refused in words, after the answers before it`(
        _ bytes: Int
    ) async throws {
        var limits = Limits()
        limits.webHeadBytes = 2_048
        let long = String(repeating: "b", count: bytes)
        let ping = "GET /rpc HTTP/1.1\r\nHost: localhost\r\n\r\n"
        try await TestService.with(limits: limits, web: Web.open) { service in
            for head in [
                "GET /watch?bucket=\(long) HTTP/1.1\r\n", "GET / HTTP/1.1\r\nX: \(long)\r\n",
            ] {
                let answers = try await onBlockingThreads {
                    try RawConnection.with(port: service.webPort) { raw in
                        try raw.send(ping + head + "Host: localhost\r\n\r\n")
                        return String(decoding: try raw.remainingBytes(), as: UTF8.self)
                    }
                }
                let parts = answers.split(separator: "HTTP/1.1 ")
                #expect(parts.count == 2, "\(answers)")
                #expect(parts[0].hasPrefix("405"))
                #expect(parts[1].hasPrefix("431"))
                #expect(parts[1].contains("\r\nConnection: close\r\n"))
                #expect(parts[1].contains("\r\nContent-Type: application/json\r\n"))
                #expect(
                    parts[1].hasSuffix(
                        #"{"errorCode":"LINE_TOO_LONG","message":"the head of the request is longer than 2048 bytes"}"#
                    ), "\(answers)")
            }
            #expect(try await Web.get(service.webPort, "/map").status == 200)
        }
    }

    @Test func `What is no HTTP is refused in words`() async throws {
        try await TestService.with(web: Web.open) { service in
            for text in [
                "{\"jsonrpc\":\"2.0\"}\n", "GET\r\n\r\n", "GET / HTTP/1.1\r\nno field\r\n\r\n",
            ] {
                let answer = try await onBlockingThreads {
                    try RawConnection.with(port: service.webPort) { raw in
                        try raw.send(text)
                        return String(decoding: try raw.remainingBytes(), as: UTF8.self)
                    }
                }
                #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(text)")
                #expect(answer.contains(#"{"errorCode":"INVALID_REQUEST","#), "\(answer)")
            }
        }
    }

    @Test func `Other methods and other types are refused`() async throws {
        try await TestService.with(web: Web.open) { service in
            let get = try await Web.get(service.webPort, "/rpc")
            #expect(get.status == 405)
            #expect(get.field("allow") == "post")
            for type in ["Content-Type: text/plain", "Content-Type: application/xml", "X: y"] {
                let answer = try await Web.rpc(service.webPort, "{}", headers: [type])
                #expect(answer.status == 415, "\(type)")
            }
            for type in ["application/json; charset=utf-8", "application/json-rpc"] {
                let answer = try await Web.rpc(
                    service.webPort, Self.lines[0], headers: ["Content-Type: \(type)"])
                #expect(answer.status == 200)
            }
            let lost = try await Web.get(service.webPort, "/nowhere")
            #expect(lost.status == 404)
            #expect(
                lost.body == #"{"errorCode":"NOT_FOUND","message":"there is nothing at this path"}"#
            )
        }
    }
}
