import Glibc
import Objects
import TestSupport
import Testing

/// Requests that are long, or cost much to read: who may ask comes first, nobody else waits, and
/// answers come in the order of the requests all the same.
@Suite(.timeLimit(.minutes(20))) struct LongRequestRules {
    /// A valid polygon of spikes, which takes GEOS some tenths of a second to find valid.
    private static let star: String = {
        let spikes = (0..<9_998).map { number in
            let (angle, radius) = (
                2 * Double.pi * Double(number) / 9_998, number % 2 == 0 ? 10.0 : 1.0
            )
            return "[\(radius * cos(angle)),\(radius * sin(angle))]"
        }
        return PolygonRules.polygon("[\((spikes + [spikes[0]]).joined(separator: ","))]")
    }()

    private static func line(_ id: Int, _ method: String, _ params: String) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
    }

    private static func count(_ id: Int, _ clause: String) -> String {
        line(id, "bucket.count", #"{"bucket":"b1","bucketQuery":{"clause":\#(clause)}}"#)
    }

    private static func put(_ id: Int, _ bytes: Int) -> String {
        let text = String(repeating: "x", count: bytes)
        return line(id, "object.put", #"{"bucket":"b1","id":"o1","object":{"s":"\#(text)"}}"#)
    }

    @Test func `While a polygon of ten thousand spikes is read, others are answered`() async throws
    {
        var limits = Limits()
        limits.connectionThreads = 1
        try await TestService.with(limits: limits) { service in
            try RawConnection.with(port: service.port, count: 2) { clients in
                for client in clients {
                    try client.send(FramingRules.ping())
                    #expect(try client.line() == FramingRules.pong())
                }
                for round in 1...3 {
                    try clients[0].send(Self.count(round, Self.star) + "\n")
                    try clients[1].send(FramingRules.ping())
                    #expect(try clients[1].line() == FramingRules.pong())
                    #expect(clients[0].isSilent(milliseconds: 0))
                    #expect(
                        try clients[0].line()
                            == #"{"jsonrpc":"2.0","id":\#(round),"result":{"count":0}}"#)
                }
            }
        }
    }

    @Test func `What a stranger asks for is not read`() async throws {
        try await LoginRules.with { guarded in
            try RawConnection.with(port: guarded.service.port) { stranger in
                // To read them all takes half a minute.
                var least = Duration.seconds(60)
                for round in 1...60 {
                    let start = ContinuousClock.now
                    try stranger.send(Self.count(round, Self.star) + "\n")
                    #expect(
                        try FramingRules.code(try stranger.line())
                            == "1401 UNAUTHORIZED id \(round)")
                    least = min(least, ContinuousClock.now - start)
                }
                // Each would take longer if the polygon were read, on the fastest machine too.
                #expect(least < .milliseconds(300))
            }
        }
    }

    @Test func `Who may not is told so, whatever is wrong with the params`() async throws {
        try await LoginRules.with { guarded in
            let wrong = #","id":1,"object":[],"objects":{},"bucketQuery":5,"more":1}"#
            for (method, _, writes) in LoginRules.bucketMethods {
                let call = (method, #"{"bucket":"shops"\#(wrong)"#)
                let reader = try await guarded.outcomes(as: "reader", [call])[0]
                #expect((reader == "1403 OPERATION_NOT_ALLOWED") == writes, "\(method): \(reader)")
                let other = (method, #"{"bucket":"users/bob/notes"\#(wrong)"#)
                let writer = try await guarded.outcomes(as: "writer", [other])[0]
                #expect(writer == "1403 OPERATION_NOT_ALLOWED bucket", "\(method)")
            }
            let list = [("bucket.list", #"{"scope":"users/bob","more":1}"#)]
            #expect(
                try await guarded.outcomes(as: "writer", list) == [
                    "1403 OPERATION_NOT_ALLOWED scope"
                ])
        }
    }

    @Test func `Long requests and short ones are answered in their order`() async throws {
        var limits = Limits()
        limits.queryMilliseconds = 600_000
        try await TestService.with(limits: limits) { service in
            let many = (0..<700).map { #"{"type":"eq","field":"n","value":\#($0)}"# }
            let clause = #"{"type":"or","clauses":[\#(many.joined(separator: ","))]}"#
            let objects = (0..<2_000).map { #"{"_id":"i\#($0)","n":\#($0)}"# }
            let putMany = #"{"bucket":"b1","objects":[\#(objects.joined(separator: ","))]}"#
            let get = #"{"bucket":"b1","id":"o1"}"#
            let requests: [(text: (Int) -> String, answer: String)] = [
                ({ Self.put($0, 10) }, "\"_version\":1"),
                ({ Self.put($0, 60_000) }, "\"_version\":2"),
                ({ Self.put($0, 20) }, "\"_version\":3"),
                ({ Self.line($0, "object.putMany", putMany) }, "\"_id\":\"i0\",\"_version\":1"),
                ({ Self.count($0, clause) }, "{\"count\":700}"),
                ({ Self.line($0, "object.get", get) }, "\"_version\":3"),
                ({ Self.put($0, 60_001) }, "\"_version\":4"),
                ({ Self.line($0, "object.get", get) }, "\"_version\":4"),
                ({ Self.put($0, 70_000) }, "OBJECT_TOO_LARGE"),
                ({ Self.count($0, Self.star) }, ":0}"),
                ({ Self.line($0, "server.ping", "{}") }, "\"pong\""),
                (
                    {
                        Self.line(
                            $0, "none", "{\"x\":\"\(String(repeating: "y", count: 40_000))\"}")
                    },
                    "METHOD_NOT_FOUND"
                ),
            ]
            let texts = requests.enumerated().map { $1.text($0) }
            try RawConnection.with(port: service.port, timeoutMilliseconds: 300_000) { raw in
                try raw.send(texts.joined(separator: "\n") + "\n")
                for (id, request) in requests.enumerated() {
                    let line = try #require(try raw.line())
                    #expect(
                        line.hasPrefix(#"{"jsonrpc":"2.0","id":\#(id),"#), "\(line.prefix(200))")
                    #expect(line.contains(request.answer), "\(id): \(line.prefix(200))")
                }
            }
            // The same as one batch, which is long itself, with what is none among them.
            _ = try await service.call("bucket.delete", #"{"bucket":"b1"}"#)
            try RawConnection.with(port: service.port, timeoutMilliseconds: 300_000) { raw in
                try raw.send("[\(texts.joined(separator: ",")),7]\n" + FramingRules.ping())
                let line = try #require(try raw.line())
                let answers = try #require(try JSONValue(parsing: line).array)
                #expect(
                    answers.compactMap { $0["id"]?.int } == Array(requests.indices))
                #expect(answers.last?["error"]?["code"]?.int == -32600)
                #expect(answers[4]["result"]?["count"]?.int == 700)
                #expect(answers[7]["result"]?["_version"]?.int == 4)
                #expect(try raw.line() == FramingRules.pong())
            }
        }
    }

    @Test func `A login counts for long requests behind it in the same segment`() async throws {
        try await LoginRules.with { guarded in
            let token = guarded.tokens["writer"]!.text
            let login = Self.line(2, "auth.login", #"{"token":"\#(token)"}"#)
            let lines = [
                Self.put(1, 40_000), login, Self.put(3, 40_000),
                "[\(login),\(Self.put(4, 40_000)),\(Self.count(5, Self.star))]",
            ]
            try RawConnection.with(port: guarded.service.port) { raw in
                try raw.send(lines.joined(separator: "\n") + "\n")
                #expect(try FramingRules.code(try raw.line()) == "1401 UNAUTHORIZED id 1")
                #expect(try raw.line()?.contains("alice") == true)
                #expect(try raw.line()?.contains("\"_version\":1") == true)
                let line = try #require(try raw.line())
                let batch = try JSONValue(parsing: line).array
                #expect(batch?[1]["result"]?["_version"]?.int == 2)
                #expect(batch?[2]["result"]?["count"]?.int == 0)
            }
        }
    }
}
