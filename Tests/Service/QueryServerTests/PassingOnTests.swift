import BackendContract
import JSONText
import Logging
import Objects
import QueryServer
import ServiceDesk
import TestSupport
import Testing
import WebServer

/// Requests over HTTP for a bucket that another node holds.
@Suite(.timeLimit(.minutes(5))) struct PassingOnTests {
    private static let secret = NodeSecret("the token of these tests")

    /// Runs `body` with the web port of a node that holds nothing, beside a node that holds `shops`.
    private static func with(
        held: Set<String> = ["shops"], limits: Limits = Limits(),
        _ body: @escaping @Sendable (_ port: Int) async throws -> Void
    ) async throws {
        let logger = Logger(label: "test") { _ in LogLines() }
        let (ports, told) = AsyncStream<Int>.makeStream()
        try await Workers.with(limits) { workers in
            try await withThrowingTaskGroup(of: Void.self) { group in
                var iterator = ports.makeAsyncIterator()
                let holder = QueryService(
                    backend: PlacedBackend(TestPlacement(["", ""], held: held)), limits: limits)
                let lines = LineServer(
                    service: holder, host: "127.0.0.1", port: 0, drainTime: .milliseconds(50),
                    nodes: secret, workers: workers, logger: logger
                ) { _, port in told.yield(port) }
                group.addTask { try await lines.run() }
                let address = "127.0.0.1:\(await iterator.next()!)"
                let placement = TestPlacement(["127.0.0.1:1", address])
                for bucket in ["shops", "nowhere"] {
                    placement.place(bucket, on: [1, 0], isHeld: false)
                }
                var settings = WebPort.Settings(host: "127.0.0.1", port: 0, hosts: .loopback)
                settings.kii = KiiSettings(app: "myapp", anonymous: .read)
                let web = WebPort(
                    service: QueryService(
                        backend: PlacedBackend(placement), limits: limits),
                    workers: workers, settings: settings, nodes: secret, logger: logger
                ) { _, port in told.yield(port) }
                group.addTask { try await web.run() }
                try await body(await iterator.next()!)
                group.cancelAll()
                try await group.waitForAll()
            }
        }
    }

    private static func request(_ method: String, _ params: String, id: String = "1") -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
    }

    private static func rpc(_ port: Int, _ text: String) throws -> String {
        try HTTPAnswer(
            port: port, path: "/rpc", method: "POST", headers: ["Content-Type: application/json"],
            body: text
        ).body
    }

    private static let put = request(
        "object.put", #"{"bucket":"shops","id":"o1","object":{}}"#)

    @Test func `They are answered there, in batches too, under their ids`() async throws {
        try await Self.with { port in
            try await onBlockingThreads {
                let count = Self.request("bucket.count", #"{"bucket":"shops"}"#, id: #""a\"b""#)
                let counted = try Self.rpc(port, count)
                #expect(counted == #"{"jsonrpc":"2.0","id":"a\"b","result":{"count":0}}"#)
                let all = try Self.rpc(port, "[\(Self.put),\(count),7]")
                #expect(
                    all
                        == #"[{"jsonrpc":"2.0","id":1,"result":{"deleted":0}},"#
                        + #"{"jsonrpc":"2.0","id":"a\"b","result":{"count":0}},"#
                        + #"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"#
                        + #""a request is a JSON object","data":{"errorCode":"INVALID_REQUEST"}}}]"#
                )
                // What is wrong with the params is told by the node that reads them.
                let answer = try Self.rpc(
                    port, Self.request("bucket.count", #"{"bucket":"shops","x":1}"#))
                #expect(answer.contains(#""path":"x""#), "\(answer)")
            }
        }
    }

    @Test func `A bucket that no node holds is refused when the query's time is over`() async throws
    {
        var limits = Limits()
        limits.queryMilliseconds = 100
        try await Self.with(limits: limits) { port in
            try await onBlockingThreads {
                let answer = try Self.rpc(
                    port, Self.request("bucket.count", #"{"bucket":"nowhere"}"#))
                #expect(answer.contains(#""errorCode":"TEMPORARY_UNAVAILABLE_ERROR""#))
                #expect(answer.contains("nothing was done"), "\(answer)")
            }
        }
    }

    @Test func `Who may do everything is not taken for the anonymous caller before`() async throws {
        try await Self.with { port in
            try await onBlockingThreads {
                for round in 0..<20 {
                    let read = try HTTPAnswer(
                        port: port, path: "/api/apps/myapp/buckets/shops")
                    #expect(read.status == 200, "\(read.body)")
                    let write = try Self.rpc(port, Self.put)
                    #expect(write.contains(#""result""#), "round \(round): \(write)")
                }
            }
        }
    }
}
