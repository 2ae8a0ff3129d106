import GeoBucketClient
import JSONText
import Objects
import ServiceDesk
import TestSupport
import Testing
import WebServer

/// What everybody may read without a login, and nothing else.
@Suite(.timeLimit(.minutes(5))) struct PublicTests {
    private static let reader = Token()
    private static let writer = Token()

    private static func with(
        _ everybody: String, limits: Limits = Limits(),
        _ body: @escaping @Sendable (TestService) async throws -> Void
    ) async throws {
        var file = TokenFile()
        file.add(.init(reader, try Grant(principal: "rita", role: .read), created: 0))
        file.add(.init(writer, try Grant(principal: "alice", role: .write), created: 0))
        try await TestService.with(
            limits: limits, access: AccessControl(tokens: file),
            everybody: PublicBuckets(everybody), web: Web.guarded
        ) { service in
            for bucket in ["open", "closed", "users/alice/notes"] {
                let answer = try await Web.rpc(
                    service.webPort,
                    Web.request(
                        "object.put",
                        #"{"bucket":"\#(bucket)","id":"o1","object":{"at":{"_type":"point","lat":1,"lon":2}}}"#
                    ), headers: [Web.json, "Authorization: Bearer \(writer.text)"])
                #expect(answer.body.contains(#""_version":1"#), "\(answer.body)")
            }
            try await body(service)
        }
    }

    /// The error of a call on a line; nil for a result.
    private static func refusal(
        _ service: TestService, _ method: String, _ params: String
    ) async throws -> String? {
        let answer = try await Web.rpc(service.webPort, Web.request(method, params))
        let web = try JSONValue(parsing: answer.body)["error"]?["data"]?["errorCode"]?.string
        do {
            try await service.call(method, params)
            #expect(web == nil)
        } catch ClientFailure.refused(let failure) {
            #expect(failure.errorCode == web)
        }
        return web
    }

    @Test(arguments: [
        ("read", ["open", "closed"]), ("read:open", ["open"]),
        ("read:open,users/alice/notes", ["open", "users/alice/notes"]), ("read:other", []),
    ])
    func `Everybody reads what is public, on lines and over HTTP`(
        everybody: String, open: [String]
    ) async throws {
        try await Self.with(everybody) { service in
            for bucket in ["open", "closed", "users/alice/notes"] {
                let isOpen = open.contains(bucket)
                let expected: String? = isOpen ? nil : "UNAUTHORIZED"
                for (method, more) in [
                    ("bucket.count", ""), ("bucket.query", ""), ("object.get", #","id":"o1""#),
                    ("bucket.clusters", #","zoom":0"#), ("bucket.fields", ""),
                ] {
                    #expect(
                        try await Self.refusal(service, method, #"{"bucket":"\#(bucket)"\#(more)}"#)
                            == expected, "\(everybody): \(method) \(bucket)")
                }
                for (method, more) in [
                    ("object.put", #","id":"o1","object":{}"#), ("object.delete", #","id":"o1""#),
                    ("bucket.delete", ""), ("bucket.deleteWhere", #","bucketQuery":{}"#),
                ] {
                    #expect(
                        try await Self.refusal(service, method, #"{"bucket":"\#(bucket)"\#(more)}"#)
                            == "UNAUTHORIZED", "\(everybody): \(method) \(bucket)")
                }
                let name = bucket.replacing("/", with: "~")
                for path in [
                    "/ogc/collections/\(name)", "/ogc/collections/\(name)/items",
                    "/tiles/\(name).json", "/tiles/\(name)/0/0/0.mvt",
                ] {
                    let status = try await Web.get(service.webPort, path).status
                    #expect(status == (isOpen ? 200 : 401), "\(everybody): \(path)")
                }
            }
            #expect(try await Self.refusal(service, "server.stats", "{}") == "UNAUTHORIZED")
            let list = try await service.call("bucket.list", "{}")
            let names = (list["buckets"]?.array ?? []).compactMap { $0["bucket"]?.string }
            #expect(Set(names) == Set(open.filter { !$0.contains("/") }))
        }
    }

    @Test func `Who logs in may read what is public besides`() async throws {
        try await Self.with("read:users/alice/notes") { service in
            let count = Web.request("bucket.count", #"{"bucket":"users/alice/notes"}"#)
            let answer = try await Web.rpc(
                service.webPort, count,
                headers: [Web.json, "Authorization: Bearer \(Self.reader.text)"])
            #expect(answer.body.contains(#""count":1"#), "\(answer.body)")
        }
    }

    @Test func `A live query of what is public goes on, and a bucket that is not is refused`()
        async throws
    {
        try await Self.with("read:open") { service in
            try await onBlockingThreads {
                try RawConnection.with(port: service.webPort) { raw in
                    let stream = try Web.Stream(raw, "bucket=open")
                    #expect(stream.status.hasPrefix("HTTP/1.1 200"))
                    #expect(try stream.next()?.params?["objects"]?.array?.count == 1)
                    let put = try HTTPAnswer(
                        port: service.webPort, path: "/rpc", method: "POST",
                        headers: [Web.json, "Authorization: Bearer \(Self.writer.text)"],
                        body: Web.request(
                            "object.put", #"{"bucket":"open","id":"o2","object":{}}"#))
                    #expect(put.status == 200)
                    #expect(try stream.next()?.name == "events")
                }
                let closed = try HTTPAnswer(port: service.webPort, path: "/watch?bucket=closed")
                #expect(closed.status == 401)
            }
        }
    }

    @Test func `Rates are limited by address`() async throws {
        var limits = Limits()
        limits.requestsPerSecond = 3
        try await Self.with("read", limits: limits) { service in
            var statuses: Set<Int> = []
            for _ in 0..<8 {
                statuses.insert(try await Web.get(service.webPort, "/tiles/open.json").status)
            }
            #expect(statuses == [200, 429])
        }
    }

    // MARK: Pages of other origins

    private static let origin = "Origin: https://app.example.com"

    private static func allowed(_ answer: HTTPAnswer) -> String? {
        answer.field("access-control-allow-origin")
    }

    @Test func `Pages of any origin may read what is public, without credentials`() async throws {
        try await Self.with("read:open") { service in
            let port = service.webPort
            for path in ["/tiles/open.json", "/ogc/collections", "/ogc/collections/open/items"] {
                let answer = try await Web.get(port, path, headers: [Self.origin])
                #expect(answer.status == 200 && Self.allowed(answer) == "*", "\(path)")
                #expect(answer.field("access-control-allow-credentials") == nil)
            }
            let count = Web.request("bucket.count", #"{"bucket":"open"}"#)
            let rpc = try await Web.rpc(port, count, headers: [Web.json, Self.origin])
            #expect(rpc.status == 200 && Self.allowed(rpc) == "*")
            let preflight = try await onBlockingThreads {
                try HTTPAnswer(
                    port: port, path: "/rpc", method: "OPTIONS",
                    headers: [Self.origin, "Access-Control-Request-Method: POST"])
            }
            #expect(preflight.status == 204 && Self.allowed(preflight) == "*")
            #expect(preflight.field("access-control-allow-methods") == "get, head, post")
            let closed = try await Web.get(port, "/tiles/closed.json", headers: [Self.origin])
            #expect(closed.status == 401 && Self.allowed(closed) == nil)
        }
    }

    @Test func `With credentials a page of another origin reads nothing`() async throws {
        try await Self.with("read:open") { service in
            let bearer = "Authorization: Bearer \(Self.reader.text)"
            let answer = try await Web.get(
                service.webPort, "/tiles/closed.json", headers: [Self.origin, bearer])
            #expect(answer.status == 200 && Self.allowed(answer) == nil)
            let basic = "Authorization: Basic \(Base64Text.encode("x:\(Self.writer.text)"))"
            let put = try await Web.rpc(
                service.webPort,
                Web.request("object.put", #"{"bucket":"open","id":"o9","object":{}}"#),
                headers: [Web.json, Self.origin, basic])
            #expect(put.status == 403)
        }
    }

    @Test(arguments: ["write", "read:", "read:a/b", "read:open,", "reads", ""])
    func `What is no form of public reading is refused`(text: String) {
        #expect(throws: ServiceFailure.self) { _ = try PublicBuckets(text) }
    }
}
