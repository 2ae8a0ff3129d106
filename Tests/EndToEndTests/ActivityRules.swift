import BackendContract
import GeoBucketClient
import JSONText
import Objects
import TestSupport
import Testing

/// `server.activity` and `server.cancel`: what runs can be seen and ended.
@Suite struct ActivityRules {
    /// A count that reads every document and takes long: no column helps it.
    private static let long =
        #"{"bucket":"b1","bucketQuery":{"clause":{"type":"contains","field":"s","value":"bb"}}}"#

    /// A service with a bucket that takes a while to search.
    private static func withMuch(
        limits: Limits = Limits(), _ body: @escaping @Sendable (TestService) async throws -> Void
    ) async throws {
        var limits = limits
        // Nothing is built that would make the search quick.
        limits.bucketColumns = 0
        try await TestService.with(limits: limits) { service in
            let text = String(repeating: "ab", count: 2_000)
            for part in 0..<8 {
                let objects = (0..<1_000).map { #"{"s":"\#(text)\#(part)\#($0)"}"# }
                for half in [objects.prefix(200), objects.dropFirst(200).prefix(200)] {
                    try await service.call(
                        "object.putMany",
                        #"{"bucket":"b1","objects":[\#(half.joined(separator: ","))]}"#)
                }
            }
            try await body(service)
        }
    }

    private static func activity(_ service: TestService) async throws -> [JSONValue] {
        try await service.call("server.activity")["requests"]?.array ?? []
    }

    /// Begins the long count on a connection of its own, many times in a row, until `body` is done.
    private static func whileCounting(
        _ service: TestService, _ body: () async throws -> Void
    ) async throws -> [String] {
        try await LineConnection.with(host: "127.0.0.1", port: service.port) { connection in
            let answers = (0..<50).map { _ in
                connection.begin("bucket.count", Array(long.utf8))
            }
            try await body()
            var outcomes: [String] = []
            for answer in answers {
                do {
                    _ = try await answer.result()
                    outcomes.append("accepted")
                } catch ClientFailure.refused(let failure) {
                    outcomes.append("\(failure.errorCode): \(failure.message)")
                }
            }
            return outcomes
        }
    }

    @Test func `A read that runs is listed with its plan, and nothing is when none does`()
        async throws
    {
        try await Self.withMuch { service in
            #expect(try await Self.activity(service).isEmpty)
            _ = try await Self.whileCounting(service) {
                var listed: JSONValue?
                while listed == nil { listed = try await Self.activity(service).first }
                #expect(listed?["method"]?.string == "bucket.count")
                #expect(listed?["bucket"]?.string == "b1" && listed?["id"]?.int ?? 0 > 0)
                #expect(listed?["plan"]?.string?.contains("scan") == true, "\(listed!)")
                #expect(listed?["address"]?.string == "127.0.0.1")
                #expect(listed?["milliseconds"]?.int ?? -1 >= 0 && listed?["principal"] == nil)
            }
            // The answer may be there before the read has left the list.
            while try await !Self.activity(service).isEmpty { await Task.yield() }
        }
    }

    @Test func `A read that is cancelled ends with QUERY_TIMEOUT, which says so`() async throws {
        try await Self.withMuch { service in
            let outcomes = try await Self.whileCounting(service) {
                // One may end before it is cancelled.
                for _ in 0..<20 {
                    guard let id = try await Self.activity(service).first?["id"]?.int else {
                        continue
                    }
                    _ = try await service.call("server.cancel", "{\"id\":\(id)}")
                }
            }
            let ended = outcomes.filter { $0 != "accepted" }
            #expect(!ended.isEmpty)
            for outcome in ended {
                #expect(
                    outcome
                        == "QUERY_TIMEOUT: an administrator has ended the request (server.cancel)")
            }
        }
    }

    @Test func `Who has ended cannot be cancelled, and an id is a number`() async throws {
        try await TestService.with { service in
            let gone = try await service.text("server.cancel", #"{"id":7}"#)
            #expect(gone == #"{"cancelled":false}"#)
            for params in ["{}", #"{"id":0}"#, #"{"id":"1"}"#] {
                let outcome = try await service.outcome("server.cancel", params)
                #expect(outcome == "INVALID_INPUT_DATA id")
            }
        }
    }

    @Test func `Only administrators see and end what runs`() async throws {
        try await LoginRules.with { guarded in
            let calls = [("server.activity", "{}"), ("server.cancel", #"{"id":1}"#)]
            for name in ["reader", "writer", "bound"] {
                let outcomes = try await guarded.outcomes(as: name, calls)
                #expect(outcomes.allSatisfy { $0.contains("OPERATION_NOT_ALLOWED") })
            }
            let admin = try await guarded.outcomes(as: "admin", calls)
            #expect(admin == ["accepted", "accepted"])
            let nobody = try await guarded.outcomes(as: nil, calls)
            #expect(nobody.allSatisfy { $0.contains("UNAUTHORIZED") })
        }
    }
}
