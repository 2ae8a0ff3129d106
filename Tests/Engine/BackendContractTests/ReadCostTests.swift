import BackendContract
import Geodesy
import Objects
import QueryLanguage
import TestSupport
import Testing

/// What a read costs, as its owner learns before it runs.
@Suite struct ReadCostTests {
    @Test(arguments: BackendKind.all)
    func `bytes, points and names make a read costly, not only a number of objects`(
        on kind: BackendKind
    ) async throws {
        try await withTemporaryFolder { folder in
            try await withBackend(kind, path: folder + "/store.sqlite") { client in
                let text = String(repeating: "a", count: 30_000)
                let point = #"{"_type":"point","lat":1,"lon":2}"#
                let points = (0..<100).map { #"{"_type":"point","lat":1,"lon":\#($0)}"# }
                    .joined(separator: ",")
                for number in 0..<30 {
                    let params = [
                        ("short", #"{"n":1,"at":\#(point)}"#), ("long", #"{"n":1,"t":"\#(text)"}"#),
                        ("points", #"{"n":1,"at":[\#(points)]}"#),
                    ]
                    for (bucket, object) in params {
                        try await client.value(
                            "object.put",
                            #"{"bucket":"\#(bucket)","id":"o\#(number)","object":\#(object)}"#)
                    }
                }
                func isCostly(_ request: (BucketName) -> ReadRequest, _ bucket: String) throws
                    -> Bool
                {
                    try client.backend.prepare(request(BucketName(trusted: bucket))).isCostly
                }
                let members = Query(fields: [Array("n".utf8)])
                #expect(try !isCostly({ .page(members, in: $0) }, "short"))
                #expect(try isCostly({ .page(members, in: $0) }, "long"))
                #expect(try !isCostly({ .page(Query(fields: []), in: $0) }, "long"))
                let window = GridWindow(level: 2)
                let clusters = ClusterQuery(window: window, fields: [])
                #expect(try !isCostly({ .clusters(clusters, in: $0) }, "short"))
                #expect(try isCostly({ .clusters(clusters, in: $0) }, "points"))
                let listed = ClusterQuery(window: window, fields: nil)
                #expect(try isCostly({ .clusters(listed, in: $0) }, "short"))
                #expect(try isCostly({ .fields(in: $0) }, "short"))
                #expect(try !isCostly({ .fields(in: $0) }, "none"))
            }
        }
    }
}
