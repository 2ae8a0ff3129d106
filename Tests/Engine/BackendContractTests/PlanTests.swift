import BackendContract
import Glibc
import JSONText
import TestSupport
import Testing

/// Which path is taken where a wrong one would answer right, and late.
@Suite struct PlanTests {
    /// 4,000 points in a grid about the origin, a millidegree apart.
    private static let objects = (0..<4_000).map {
        let (row, column) = ($0 / 63, $0 % 63)
        return """
            {"_id":"o-\($0)","name":"\($0)","at":{"_type":"point","lat":\(Double(row) / 1_000),\
            "lon":\(Double(column) / 1_000)}}
            """
    }

    private static func explain(_ clause: String) -> String {
        #"{"bucket":"grid","bucketQuery":{"clause":\#(clause)},"bestEffortLimit":10,"analyze":true}"#
    }

    @Test(arguments: BackendKind.all)
    func `a circle with many more points than a page is no reason to look at all objects`(
        on kind: BackendKind
    )
        async throws
    {
        try await withTemporaryFolder { folder in
            try await withBackend(kind, path: folder + "/store.sqlite") { client in
                try await client.value(
                    "object.putMany",
                    #"{"bucket":"grid","objects":[\#(Self.objects.joined(separator: ","))]}"#)
                for (radius, path) in [(700, "circle"), (2_000, "circle"), (20_000, "scan")] {
                    let plan = try await client.value(
                        "bucket.explain",
                        Self.explain(
                            #"""
                            {"type":"geodistance","field":"at","radius":\#(radius),
                            "center":{"_type":"point","lat":0.063,"lon":0.0}}
                            """#))
                    #expect(plan["accessPath"]?.string == path, "\(radius) m: \(plan)")
                }
            }
        }
    }

    @Test(arguments: BackendKind.all)
    func `a polygon of many edges is thought to cost more than one of few, in an or too`(
        on kind: BackendKind
    )
        async throws
    {
        /// Spikes about the grid, every second vertex near its middle.
        func star(_ count: Int) -> String {
            let spikes = (0..<count).map { number in
                let angle = 2 * Double.pi * Double(number) / Double(count)
                let radius = number % 2 == 0 ? 0.1 : 0.01
                return "[\(0.03 + radius * cos(angle)),\(0.03 + radius * sin(angle))]"
            }
            let ring = (spikes + [spikes[0]]).joined(separator: ",")
            return
                #"{"type":"geopolygon","field":"at","polygon":{"type":"Polygon","coordinates":[[\#(ring)]]}}"#
        }
        try await withTemporaryFolder { folder in
            try await withBackend(kind, path: folder + "/store.sqlite") { client in
                try await client.value(
                    "object.putMany",
                    #"{"bucket":"grid","objects":[\#(Self.objects.joined(separator: ","))]}"#)
                for around in ["\u{1}", "{\"type\":\"or\",\"clauses\":[\u{1},\u{1}]}"] {
                    var costs: [Int] = []
                    for count in [8, 9_000] {
                        let clause = around.replacing("\u{1}", with: star(count / 2))
                        let plan = try await client.value(
                            "bucket.explain",
                            #"{"bucket":"grid","bucketQuery":{"clause":\#(clause)}}"#)
                        costs.append(try #require(plan["estimatedMicroseconds"]?.int))
                    }
                    #expect(costs[1] > 2 * costs[0], "\(costs)")
                }
            }
        }
    }

    @Test(arguments: BackendKind.all)
    func `a rare value of a column is thought to take long where every object is looked at`(
        on kind: BackendKind
    )
        async throws
    {
        try await withTemporaryFolder { folder in
            try await withBackend(kind, path: folder + "/store.sqlite", makesColumns: true) {
                client in
                try await client.value(
                    "object.putMany",
                    #"{"bucket":"grid","objects":[\#(Self.objects.joined(separator: ","))]}"#)
                let clause = #"{"type":"contains","field":"name","value":"3999"}"#
                _ = try await client.value("bucket.count", Self.explain(clause))
                let plan = try await client.value("bucket.explain", Self.explain(clause))
                #expect(plan["estimatedCandidates"]?.int ?? 0 > 2_000, "\(plan)")
            }
        }
    }

    @Test(arguments: BackendKind.all)
    func `a column of a bucket that is few among all is made of its own documents`(
        on kind: BackendKind
    )
        async throws
    {
        func putMany(_ objects: [String], in bucket: String, on client: DirectClient) async throws {
            try await client.value(
                "object.putMany",
                #"{"bucket":"\#(bucket)","objects":[\#(objects.joined(separator: ","))]}"#)
        }
        try await withTemporaryFolder { folder in
            try await withBackend(kind, path: folder + "/store.sqlite", makesColumns: true) {
                client in
                try await putMany(Self.objects, in: "others", on: client)
                try await putMany(Array(Self.objects[..<200]), in: "grid", on: client)
                for hole in stride(from: 0, to: 60, by: 3) {
                    try await client.value("object.delete", #"{"bucket":"grid","id":"o-\#(hole)"}"#)
                }
                let clause = #"{"type":"prefix","field":"name","prefix":"1"}"#
                // Asked once for the column, then of it: 1, 10 to 19, 100 to 199, without the holes.
                for _ in 0..<2 {
                    let found = try await client.value("bucket.count", Self.explain(clause))
                    #expect(found["count"]?.int == 108)
                }
                #expect(client.backend.statistics().columns == 1)
                let plan = try await client.value("bucket.explain", Self.explain(clause))
                #expect(plan["estimatedDocuments"]?.int == 0, "\(plan)")
            }
        }
    }
}
