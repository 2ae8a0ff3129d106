import Backend
import JSONText
import Objects
import QueryLanguage
import Synchronization
import TestSupport
import Testing

/// What `Backend` says of its callers' threads: when reads end, and when writes are answered.
@Suite struct EffortTests {
    @Test(arguments: BackendKind.all)
    func `a read that is told to stop ends with a failure, others do not`(on kind: BackendKind)
        async throws
    {
        try await withTemporaryFolder { folder in
            try await withBackend(kind, path: folder + "/store.sqlite") { face in
                let objects = (0..<500).map { #"{"_id":"o\#($0)","n":\#($0)}"# }
                try await face.value(
                    "object.putMany",
                    #"{"bucket":"many","objects":[\#(objects.joined(separator: ","))]}"#)
                let bucket = try BucketName("many")
                let clause = Clause.eq(FieldPath("n"), .number(.integer(499)))
                let request = PageRequest(bucket: bucket, query: Query(clause: clause))
                let signal = StopSignal()
                var writer = JSONWriter()
                let page = try face.backend.query(request, effort: .until(signal), into: &writer)
                #expect(page?.objects == 1)
                #expect(try face.backend.count(clause, in: bucket, effort: .until(signal)) == 1)
                signal.stop()
                let expected = ServiceFailure(.temporarilyUnavailable, "the query was stopped")
                #expect(throws: expected) {
                    var writer = JSONWriter()
                    _ = try face.backend.query(request, effort: .until(signal), into: &writer)
                }
                #expect(throws: expected) {
                    _ = try face.backend.count(clause, in: bucket, effort: .until(signal))
                }
            }
        }
    }

    @Test(arguments: BackendKind.all, [16, 17])
    func `a page of many documents that are not in memory is no light work`(
        on kind: BackendKind,
        _ count: Int
    ) async throws {
        var limits = Limits()
        limits.documentCacheBytes = 0
        try await withTemporaryFolder { [limits] folder in
            try await withBackend(kind, path: folder + "/store.sqlite", limits: limits) { face in
                let objects = Array(repeating: "{}", count: count).joined(separator: ",")
                try await face.value(
                    "object.putMany", #"{"bucket":"many","objects":[\#(objects)]}"#)
                for fields in [nil, [Array("n".utf8)]] as [[[UInt8]]?] {
                    let request = PageRequest(
                        bucket: try BucketName("many"), query: Query(fields: fields))
                    var writer = JSONWriter()
                    let light = try face.backend.query(request, effort: .light, into: &writer)
                    #expect(light?.objects == (count <= 16 ? count : nil))
                    #expect(light != nil || writer.count == 0)
                    let any = try face.backend.query(request, effort: .any, into: &writer)
                    #expect(any?.objects == count)
                }
            }
        }
    }

    @Test(arguments: BackendKind.all)
    func `distances that every object of a page reports are counted as work`(on kind: BackendKind)
        async throws
    {
        try await withTemporaryFolder { folder in
            try await withBackend(kind, path: folder + "/store.sqlite") { face in
                let point = #"{"_type":"point","lat":1,"lon":2}"#
                let objects = Array(repeating: #"{"p":\#(point)}"#, count: 200)
                try await face.value(
                    "object.putMany",
                    #"{"bucket":"many","objects":[\#(objects.joined(separator: ","))]}"#)
                func explained(_ count: Int, _ model: String) async throws -> Int {
                    let clauses = (0..<count).map {
                        #"{"type":"geodistance","field":"p","center":\#(point),"model":"\#(model)","#
                            + #""putDistanceInto":"d\#($0)"}"#
                    }
                    let clause = #"{"type":"or","clauses":[\#(clauses.joined(separator: ","))]}"#
                    let plan = try await face.value(
                        "bucket.explain", #"{"bucket":"many","bucketQuery":{"clause":\#(clause)}}"#)
                    return try #require(plan["estimatedMicroseconds"]?.int)
                }
                let (few, many) = (
                    try await explained(1, "wgs84"), try await explained(20, "wgs84")
                )
                #expect(many - few > 19 * 200 / 2)
                let sphere = try await explained(20, "sphere")
                #expect(many - sphere > 10 * 200)
            }
        }
    }

    @Test(arguments: BackendKind.all)
    func `writes are answered in the order of their submission`(on kind: BackendKind) async throws {
        try await withTemporaryFolder { folder in
            try await withBackend(kind, path: folder + "/store.sqlite") { face in
                let answered = Mutex<[Int]>([])
                let bucket = try BucketName("many")
                await withCheckedContinuation { continuation in
                    for number in 0..<400 {
                        // Refusals take their turn too.
                        let write: Write =
                            number % 3 == 0
                            ? .delete(bucket: bucket, id: ObjectID(trusted: "none"), ifVersion: nil)
                            : .put(
                                bucket: bucket,
                                object: PutObject(
                                    id: nil,
                                    document: WrittenDocument(text: [123, 125], points: [])
                                ),
                                condition: .none)
                        face.backend.submit(write) { _ in
                            let count = answered.withLock {
                                $0.append(number)
                                return $0.count
                            }
                            if count == 400 { continuation.resume() }
                        }
                    }
                }
                #expect(answered.withLock { $0 } == Array(0..<400))
            }
        }
    }
}
