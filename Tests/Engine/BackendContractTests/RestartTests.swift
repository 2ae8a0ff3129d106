import JSONText
import Objects
import TestSupport
import Testing

/// What a start reads is left behind: later reads see what has been written since.
@Suite struct RestartTests {
    /// The row of the last object that expires is the last that a start looks at.
    @Test(arguments: BackendKind.all, [false, true])
    func `documents written after a start are read, whether or not the newest object expires`(
        on kind: BackendKind,
        expires: Bool
    ) async throws {
        var limits = Limits()
        // Each document is read from the store.
        limits.documentCacheBytes = 0
        try await withTemporaryFolder { [limits] folder in
            let path = folder + "/store.sqlite"
            let clock = TestClock(1_000)
            let ids = (0..<20).map { "o\($0)" }
            @Sendable func put(_ id: String, _ n: Int, _ service: TestService) async throws {
                let expiry = id == ids.last && expires ? #","expiresAt":9000"# : ""
                try await service.call(
                    "object.put", #"{"bucket":"b1","id":"\#(id)","object":{"n":\#(n)}\#(expiry)}"#)
            }
            for life in 0..<3 {
                try await TestService.with(on: kind, path: path, limits: limits, clock: clock) {
                    service in
                    for id in ids {
                        try await put(id, life, service)
                        let found = try await service.call(
                            "object.get", #"{"bucket":"b1","id":"\#(id)"}"#)
                        #expect(found["n"] == .int(life), "life \(life), \(id)")
                    }
                }
            }
        }
    }

    /// A start holds the elections that the writes held.
    @Test(arguments: BackendKind.all)
    func `the place of a bucket is the same after a start`(on kind: BackendKind) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            @Sendable func place(_ service: TestService) async throws -> String? {
                try await service.call("bucket.list")["buckets"]?.array?.first?["place"]?.string
            }
            try await TestService.with(on: kind, path: path) { service in
                for number in 0..<25 {
                    let field = number < 10 ? "location" : "area"
                    try await service.call(
                        "object.put",
                        #"{"bucket":"b1","id":"o\#(number)","object":{"\#(field)":{"_type":"point","lat":1,"lon":2}}}"#
                    )
                }
                #expect(try await place(service) == "location")
            }
            let found = try await TestService.with(on: kind, path: path) { service in
                try await place(service)
            }
            #expect(found == "location")
        }
    }
}
