import JSONText
import Objects
import Runtime
import ServiceDesk
import TestSupport
import Testing

/// Messages that come by another way than a connection, answered without one.
@Suite(.timeLimit(.minutes(5))) struct AsyncDeskTests {
    private typealias Body =
        @Sendable (AsyncDesk, LogLines) async throws -> Void

    /// A service with some objects whose clock moves on by so many milliseconds whenever somebody
    /// looks at it.
    private static func with(
        _ limits: Limits = Limits(), stepMilliseconds: Int64 = 0, _ body: Body
    ) async throws {
        try await withTemporaryFolder { folder in
            var opening = BackendKind.Opening(path: folder + "/store.sqlite")
            opening.limits = limits
            let backend = try BackendKind.embedded.open(opening)
            defer { try? backend.close() }
            let (log, time) = (LogLines(), TestClock(0))
            var clock = ServiceClock()
            clock.nanoseconds = {
                time.advance(stepMilliseconds * 1_000_000)
                return time.now
            }
            let service = QueryService(
                backend: backend, limits: limits, clock: clock, logger: log.logger)
            try await Workers.with(limits) { workers in
                try await body(
                    AsyncDesk(Desk(service: service, workers: workers, logger: log.logger)), log)
            }
        }
    }

    private static let caller = Caller(address: "a1")

    private static func answer(
        _ desk: AsyncDesk, _ text: String, maximumBytes: Int = 1_000_000
    ) async throws(RPCFailure) -> String? {
        try await desk.answer(Array(text.utf8), from: caller, maximumBytes: maximumBytes)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    private static func request(_ method: String, _ params: String, id: String? = "1") -> String {
        let id = id.map { #""id":\#($0),"# } ?? ""
        return #"{"jsonrpc":"2.0",\#(id)"method":"\#(method)","params":\#(params)}"#
    }

    private static func put(_ number: Int, id: String?) -> String {
        request("object.put", #"{"bucket":"bb","id":"o1","object":{"n":\#(number)}}"#, id: id)
    }

    private static let get = request("object.get", #"{"bucket":"bb","id":"o1"}"#, id: "9")

    // MARK: Batches

    @Test(arguments: Seeds.first(12))
    func `A batch takes effect in order; what has no id is done and not answered`(
        _ seed: UInt64
    ) async throws {
        try await Self.with { desk, _ in
            var random = SplitMix64(seed: seed)
            var (requests, expected, version) = ([String](), [String](), 0)
            for number in 0..<40 {
                switch random.below(4) {
                case 0:
                    requests.append(Self.put(number, id: nil))
                    version += 1
                case 1:
                    requests.append(Self.put(number, id: #""w""#))
                    version += 1
                    expected.append("w \(version)")
                case 2:
                    requests.append(Self.get)
                    expected.append(version == 0 ? "9 OBJECT_NOT_FOUND" : "9 \(version)")
                default:
                    requests.append("7")
                    expected.append("null INVALID_REQUEST")
                }
            }
            let text = try await Self.answer(desk, "[\(requests.joined(separator: ","))]")
            let answers = try JSONValue(parsing: Array((text ?? "[]").utf8)).array ?? []
            let found = answers.map { answer in
                let id = answer["id"]?.string ?? answer["id"]?.text ?? "-"
                let code = answer["error"]?["data"]?["errorCode"]?.string
                return "\(id) \(code ?? answer["result"]?["_version"]?.text ?? "-")"
            }
            #expect(found == expected, "seed \(seed)")
        }
    }

    @Test func `Answers that are too long end a batch after the writes that were under way`()
        async throws
    {
        try await Self.with { desk, _ in
            let writes = (0..<3).map { Self.put($0, id: "1") }
            let length = try #require(
                try await Self.answer(desk, "[\(writes.joined(separator: ","))]")
            ).utf8.count
            // As long as may be, without the bracket at the end; then one byte less.
            let batch = "[" + (writes + [Self.get] + writes).joined(separator: ",") + "]"
            do throws(RPCFailure) {
                _ = try await Self.answer(desk, batch, maximumBytes: length - 2)
                Issue.record("answered")
            } catch {
                #expect(error.errorCode == "LINE_TOO_LONG")
                #expect(error.message.contains("first 3 requests"), "\(error.message)")
            }
            let version = try await Self.answer(desk, Self.get)
            #expect(version?.contains(#""_version":6,"#) == true, "\(version ?? "-")")
            let whole = try await Self.answer(
                desk, "[\(writes.joined(separator: ","))]", maximumBytes: length - 1)
            #expect(whole?.utf8.count == length)
        }
    }

    @Test func `A read that has to see what has not happened is refused`() async throws {
        try await Self.with { desk, _ in
            _ = try await Self.answer(desk, Self.put(1, id: "1"))
            for (change, isAnswered) in [(0, true), (1, true), (2, false)] {
                let text = try await Self.answer(
                    desk, Self.request("bucket.count", #"{"bucket":"bb","atLeast":\#(change)}"#))
                #expect(text?.contains(#""result":{"count":1}"#) == isAnswered, "\(change)")
                #expect(
                    text?.contains(#""errorCode":"TEMPORARY_UNAVAILABLE_ERROR""#) != isAnswered)
            }
        }
    }

    // MARK: Slow queries

    @Test func `A query that takes longer than the limit is logged without its values`()
        async throws
    {
        var limits = Limits()
        limits.slowQueryMilliseconds = 50
        try await Self.with(limits, stepMilliseconds: 51) { desk, log in
            _ = try await Self.answer(desk, Self.put(1, id: "1"))
            let query = #"{"clause":{"type":"eq","field":"colour","value":"tell-nobody"}}"#
            for (method, isLogged) in [
                ("bucket.query", true), ("bucket.count", true), ("bucket.fields", false),
                ("bucket.list", false), ("object.get", false), ("server.ping", false),
            ] {
                let params =
                    switch method {
                    case "bucket.query", "bucket.count":
                        #"{"bucket":"bb","bucketQuery":\#(query)}"#
                    case "bucket.fields": #"{"bucket":"bb"}"#
                    case "object.get": #"{"bucket":"bb","id":"o1"}"#
                    default: "{}"
                    }
                let before = log.all.count
                _ = try await Self.answer(desk, Self.request(method, params))
                let new = log.all[before...].filter { $0.hasPrefix("slow query") }
                #expect(new.count == (isLogged ? 1 : 0), "\(method)")
                for line in new {
                    #expect(line.contains(#""bucket": bb"#) && line.contains(method), "\(line)")
                    #expect(line.contains("colour") && line.contains("none"), "\(line)")
                }
            }
            #expect(!log.all.contains { $0.contains("tell-nobody") })
        }
    }

    @Test(arguments: [0, 60_000])
    func `A query within the limit is not logged, and with a limit of 0 none is`(
        _ limit: Int
    ) async throws {
        var limits = Limits()
        limits.slowQueryMilliseconds = limit
        try await Self.with(limits, stepMilliseconds: 51) { desk, log in
            let count = Self.request("bucket.count", #"{"bucket":"bb"}"#)
            let text = try await Self.answer(desk, count)
            #expect(text?.contains(#""count":0"#) == true)
            #expect(!log.all.contains { $0.hasPrefix("slow query") })
        }
    }
}
