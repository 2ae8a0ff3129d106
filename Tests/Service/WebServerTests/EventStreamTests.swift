import JSONText
import Objects
import ServiceDesk
import TestSupport
import Testing
import WebServer

/// `GET /watch`: a live query as server-sent events.
@Suite(.timeLimit(.minutes(5))) struct EventStreamTests {
    private static let near =
        #"{"clause":{"type":"geodistance","field":"at","center":{"_type":"point","lat":0,"lon":0},"radius":250000}}"#

    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain = byte > 0x2F && byte < 0x3A || byte > 0x60 && byte < 0x7B
            return isPlain
                ? String(UnicodeScalar(byte))
                : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    /// A call over HTTP, which blocks.
    @discardableResult
    private static func call(_ port: Int, _ method: String, _ params: String) throws -> JSONValue {
        let answer = try HTTPAnswer(
            port: port, path: "/rpc", method: "POST", headers: [Web.json],
            body: Web.request(method, params))
        return try JSONValue(parsing: answer.body)["result"] ?? .null
    }

    private static func watches(_ port: Int) throws -> Int? {
        try call(port, "server.stats", "{}")["watches"]?["watches"]?.int
    }

    @Test func `A snapshot, what follows, and what was missed meanwhile`() async throws {
        try await TestService.with(web: Web.open) { service in
            try await Web.fill(service, 10)
            let query = "bucket=shops&query=\(Self.encoded(Self.near))&fields=n"
            let port = service.webPort
            try await onBlockingThreads {
                let token = try RawConnection.with(port: port) { raw in
                    let stream = try Web.Stream(raw, query)
                    #expect(stream.status.hasPrefix("HTTP/1.1 200"))
                    #expect(stream.head.contains("content-type: text/event-stream\r"))
                    let snapshot = try #require(try stream.next())
                    #expect(snapshot.name == "snapshot")
                    #expect(snapshot.params?["objects"]?.array?.count == 3)
                    #expect(snapshot.id == snapshot.params?["resume"]?.string)
                    try Self.call(
                        port, "object.patch", #"{"bucket":"shops","id":"s1","object":{"n":100}}"#)
                    let change = try #require(try stream.next())
                    #expect(change.name == "events")
                    let event = change.params?["events"]?[0]
                    #expect(event?["event"]?.string == "change")
                    #expect(event?["object"]?["n"]?.int == 100)
                    return try #require(change.id)
                }
                try Self.call(port, "object.delete", #"{"bucket":"shops","id":"s1"}"#)
                try RawConnection.with(port: port) { raw in
                    let stream = try Web.Stream(raw, query, headers: ["Last-Event-ID: \(token)"])
                    let missed = try #require(try stream.next())
                    #expect(missed.name == "events")
                    let event = missed.params?["events"]?[0]
                    #expect(event?["event"]?.string == "leave")
                    #expect(event?["_id"]?.string == "s1")
                }
            }
        }
    }

    @Test func `A client that has gone leaves no watch behind`() async throws {
        try await TestService.with(web: Web.open) { service in
            try await Web.fill(service, 3)
            let port = service.webPort
            try await onBlockingThreads {
                try RawConnection.with(port: port) { raw in
                    _ = try Web.Stream(raw, "bucket=shops").next()
                    #expect(try Self.watches(port) == 1)
                }
                while try Self.watches(port) != 0 {}
            }
        }
    }

    @Test(arguments: [
        ("", 400, "bucket"), ("bucket=x", 400, "bucket"), ("bucket=shops&limit=many", 400, "limit"),
        ("bucket=shops&limit=-1", 400, "limit"), ("bucket=shops&limit=201", 400, "limit"),
        ("bucket=shops&filter=" + String(repeating: "not%20", count: 40) + "a%3D1", 400, "filter"),
        ("bucket=shops&other=1", 400, "other"), ("bucket=shops&bucket=shops", 400, "bucket"),
        ("bucket=shops&query=no", 400, "query"),
        ("bucket=shops&query=%7B%7D&filter=a%3D1", 400, "filter"),
        ("bucket=shops&filter=a%20%3D", 400, "filter"),
        (
            "bucket=shops&query=%7B%22clause%22%3A%7B%22type%22%3A%22no%22%7D%7D", 400,
            "bucketQuery.clause.type"
        ),
    ])
    func `A watch that cannot be is refused before it begins`(
        query: String, status: Int, path: String
    ) async throws {
        try await TestService.with(web: Web.open) { service in
            let answer = try await Web.get(service.webPort, "/watch?\(query)")
            #expect(answer.status == status)
            let error = try JSONValue(parsing: Array(answer.body.utf8))
            #expect(error["path"]?.string == path, "\(answer.body)")
            #expect(!answer.body.contains("bestEffortLimit"), "\(answer.body)")
            #expect(error["errorCode"]?.string != nil)
        }
    }

    @Test func `A watch ends with its token`() async throws {
        let token = Token()
        var file = TokenFile()
        file.add(.init(token, try Grant(principal: "rita", role: .read), created: 0))
        let access = AccessControl(tokens: file)
        try await TestService.with(access: access, web: Web.guarded) { service in
            let port = service.webPort
            try await onBlockingThreads {
                try RawConnection.with(port: port) { raw in
                    let stream = try Web.Stream(
                        raw, "bucket=shops", headers: ["Authorization: Bearer \(token.text)"])
                    #expect(try stream.next()?.name == "snapshot")
                    access.replace(TokenFile())
                    let end = try stream.next()
                    #expect(end?.name == "end")
                    #expect(end?.data.contains("UNAUTHORIZED") == true)
                    #expect(try stream.next() == nil)
                }
            }
        }
    }

    @Test func `A filter expression is a query too`() async throws {
        try await TestService.with(web: Web.open) { service in
            try await Web.fill(service, 10)
            let port = service.webPort
            let snapshot = try await onBlockingThreads {
                try RawConnection.with(port: port) { raw in
                    try Web.Stream(raw, "bucket=shops&filter=n+%3E=+7").next()
                }
            }
            #expect(snapshot?.params?["objects"]?.array?.count == 3)
        }
    }
}
