import BackendContract
import InMemoryEngine
import JSONText
import Objects
import QueryLanguage
import Runtime
import Synchronization
import TestSupport
import Testing

/// What `Backend` says of reads: they are prepared, which tells what they take, then run.
@Suite(.timeLimit(.minutes(20))) struct PreparedReadTests {
    private static let bucket = BucketName(trusted: "many")

    /// The objects `o0`, `o1` and so on, each with its number as `n`.
    private static func put(_ numbers: Range<Int>, plus more: Int = 0, on client: DirectClient)
        async throws
    {
        let objects = numbers.map { #"{"_id":"o\#($0)","n":\#($0 + more)}"# }
        try await client.value(
            "object.putMany", #"{"bucket":"many","objects":[\#(objects.joined(separator: ","))]}"#)
    }

    private static func isNumber(_ number: Int64) -> Clause {
        .eq(FieldPath("n"), .number(.integer(number)))
    }

    /// Reads of every kind, cheap ones and, of many objects, costly ones.
    private static func reads(on backend: any Backend) throws -> [any PreparedRead] {
        let byNumber = [OrderKey(.field(FieldPath("n")), descending: true)]
        let requests: [ReadRequest] = [
            .page(Query(limit: 10), in: bucket),
            .page(Query(limit: 30, fields: []), in: bucket),
            .page(Query(limit: 30, fields: [Array("n".utf8)]), in: bucket),
            .page(Query(clause: isNumber(3)), in: bucket),
            .page(Query(order: byNumber, limit: 20), in: bucket),
            .count(.all, in: bucket),
            .count(isNumber(3), in: bucket),
            .explanation(Query(clause: isNumber(3)), in: bucket, analyze: false),
            .buckets(in: .application, after: nil, where: { _ in true }),
        ]
        return try requests.map { try backend.prepare($0) }
    }

    private static func outcome(
        of read: any PreparedRead, maximumBytes: Int = .max, until stop: StopSignal? = nil
    ) throws -> String {
        var writer = JSONWriter()
        let end = try read.run(maximumBytes: maximumBytes, until: stop, into: &writer)
        let key = end.nextPaginationKey ?? "end"
        return "\(end.count) \(key): " + String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test(arguments: BackendKind.all, [20, 500])
    func `a prepared read answers from its state, again and again, whatever is written`(
        on kind: BackendKind, _ count: Int
    ) async throws {
        for cacheBytes in [Limits().documentCacheBytes, 0] {
            var limits = Limits()
            limits.documentCacheBytes = cacheBytes
            try await withTemporaryFolder { [limits] folder in
                try await withBackend(kind, path: folder + "/store.sqlite", limits: limits) {
                    client in
                    try await Self.put(0..<count, on: client)
                    let reads = try Self.reads(on: client.backend)
                    let before = try Self.reads(on: client.backend).map { try Self.outcome(of: $0) }
                    func check(_ moment: String) throws {
                        let found = try reads.map { try Self.outcome(of: $0) }
                        #expect(found == before, "\(moment), cache of \(cacheBytes) bytes")
                    }
                    try await Self.put(0..<15, plus: 1_000, on: client)
                    try await Self.put(count..<(count + 10), on: client)
                    try check("after puts")
                    for id in 0..<5 {
                        try await client.value(
                            "object.delete", #"{"bucket":"many","id":"o\#(id)"}"#)
                    }
                    try check("after deletes")
                    let now = try Self.reads(on: client.backend).map { try Self.outcome(of: $0) }
                    #expect(zip(now, before).allSatisfy { $0 != $1 }, "\(now)")
                    try await client.value("bucket.delete", #"{"bucket":"many"}"#)
                    try check("without the bucket")
                }
            }
        }
    }

    @Test(arguments: BackendKind.all)
    func `a prepared read that is never run keeps nothing when it is let go of`(
        on kind: BackendKind
    ) async throws {
        try await withTemporaryFolder { folder in
            try await withBackend(kind, path: folder + "/store.sqlite") { client in
                try await Self.put(0..<500, on: client)
                func kept() -> Int { client.backend.statistics().memory.supersededDocuments }
                var reads = try Self.reads(on: client.backend)
                try await Self.put(0..<500, plus: 1, on: client)
                #expect(kept() > 0)
                #expect(reads.count == 9)
                reads = []
                while kept() > 0 { try await Task.sleep(for: .milliseconds(1)) }
            }
        }
    }

    @Test(arguments: BackendKind.all)
    func `to look at many documents is costly, and so is to analyze`(on kind: BackendKind)
        async throws
    {
        try await withTemporaryFolder { folder in
            try await withBackend(kind, path: folder + "/store.sqlite") { client in
                func isCostly(_ request: ReadRequest) throws -> Bool {
                    try client.backend.prepare(request).isCostly
                }
                for (objects, areMany) in [(0..<20, false), (20..<500, true)] {
                    try await Self.put(objects, on: client)
                    let query = Query(clause: Self.isNumber(3))
                    #expect(try isCostly(.page(query, in: Self.bucket)) == areMany)
                    #expect(try isCostly(.count(query.clause, in: Self.bucket)) == areMany)
                    #expect(try !isCostly(.page(Query(), in: Self.bucket)))
                    #expect(try !isCostly(.count(.all, in: Self.bucket)))
                    for analyze in [false, true] {
                        let explanation = ReadRequest.explanation(
                            query, in: Self.bucket, analyze: analyze)
                        #expect(try isCostly(explanation) == analyze)
                    }
                }
                #expect(try !isCostly(.page(Query(), in: BucketName(trusted: "none"))))
            }
        }
    }

    @Test(arguments: BackendKind.all)
    func `what takes longer than estimated is costly, and has columns made`(on kind: BackendKind)
        async throws
    {
        var tuning = Engine.Tuning.untimed
        tuning.briefSearch = .zero
        try await withTemporaryFolder { [tuning] folder in
            try await withBackend(kind, path: folder + "/store.sqlite", tuning: tuning) { client in
                try await Self.put(0..<2_000, on: client)
                // Some twenty documents are thought to be enough for one that matches.
                let clause = Clause.eq(FieldPath("absent"), .number(.integer(1)))
                let small = Clause.eq(FieldPath("other"), .number(.integer(1)))
                for request in [
                    ReadRequest.page(Query(clause: clause, limit: 1), in: Self.bucket),
                    .count(.and([clause, small]), in: Self.bucket),
                ] {
                    let read = try client.backend.prepare(request)
                    #expect(read.isCostly)
                    var writer = JSONWriter()
                    #expect(try read.run(into: &writer).count == 0)
                }
                client.backend.settle()
                #expect(client.backend.statistics().columns > 0)
            }
        }
    }

    @Test(arguments: BackendKind.all, [16, 17])
    func `a page of many documents that are not in memory is costly`(
        on kind: BackendKind,
        _ count: Int
    ) async throws {
        var limits = Limits()
        limits.documentCacheBytes = 0
        try await withTemporaryFolder { [limits] folder in
            try await withBackend(kind, path: folder + "/store.sqlite", limits: limits) { client in
                try await Self.put(0..<count, on: client)
                for fields in [nil, [Array("n".utf8)], []] as [[[UInt8]]?] {
                    let read = try client.backend.prepare(
                        .page(Query(fields: fields), in: Self.bucket))
                    #expect(read.isCostly == (count > 16 && fields?.isEmpty != true))
                    var writer = JSONWriter()
                    #expect(try read.run(into: &writer).count == count)
                }
            }
        }
    }

    @Test(arguments: BackendKind.all)
    func `to list the buckets is costly where there are more than a thousand`(on kind: BackendKind)
        async throws
    {
        try await withTemporaryFolder { folder in
            try await withBackend(kind, path: folder + "/store.sqlite") { client in
                func listing() throws -> any PreparedRead {
                    try client.backend.prepare(
                        .buckets(
                            in: .application, after: nil,
                            where: { $0.text.hasSuffix("99") || $0.text.hasSuffix("b1000") }))
                }
                func put(_ number: Int) async throws {
                    try await client.value(
                        "object.put", #"{"bucket":"b\#(number)","id":"o1","object":{}}"#)
                }
                for number in 0..<1_000 { try await put(number) }
                let cheap = try listing()
                try await put(1_000)
                let costly = try listing()
                #expect(!cheap.isCostly && costly.isCostly)
                func summary(_ name: String) -> String {
                    #"{"bucket":"\#(name)","objects":1,"geoFields":[]}"#
                }
                let names = ["b199", "b299", "b399", "b499", "b599", "b699", "b799", "b899"]
                let few = names.map(summary).joined(separator: ",")
                let all = few + "," + summary("b99") + "," + summary("b999")
                #expect(try Self.outcome(of: cheap) == "10 end: " + all)
                #expect(try Self.outcome(of: costly) == "11 end: " + summary("b1000") + "," + all)
                // With the key, which names the last bucket of a page.
                let room = few.utf8.count + ReadEnd.keyMemberBytes("b899")
                #expect(try Self.outcome(of: cheap, maximumBytes: room) == "8 b899: " + few)
                #expect(
                    try Self.outcome(of: cheap, maximumBytes: 0) == "1 b199: " + summary("b199"))
            }
        }
    }

    @Test func `to list some named buckets is to look at these, however many others there are`()
        async throws
    {
        try await withTemporaryFolder { folder in
            try await withBackend(.usual, path: folder + "/store.sqlite") { client in
                for number in 0..<1_100 {
                    try await client.value(
                        "object.put", #"{"bucket":"b\#(number)","id":"o1","object":{}}"#)
                }
                let asked = Mutex<[String]>([])
                let named = ["b1000", "b7", "none", "users/alice/b"].map(BucketName.init(trusted:))
                let list = try client.backend.prepare(
                    .buckets(in: .application, after: nil, among: named) { name in
                        asked.withLock { $0.append(name.text) }
                        return true
                    })
                #expect(!list.isCostly)
                let outcome = try Self.outcome(of: list)
                #expect(outcome.hasPrefix("2 end: ") && outcome.contains("\"b1000\""))
                #expect(asked.withLock { $0 } == ["b1000", "b7"])
                // A page looks at no more than it shows, and at one bucket behind it.
                asked.withLock { $0 = [] }
                let page = try client.backend.prepare(
                    .buckets(in: .application, after: BucketName(trusted: "b5")) { name in
                        asked.withLock { $0.append(name.text) }
                        return true
                    })
                _ = try Self.outcome(of: page, maximumBytes: 200)
                #expect(asked.withLock { $0.count } < 10)
            }
        }
    }

    @Test(arguments: BackendKind.all)
    func `a costly read that is told to stop ends with a failure, others do not`(
        on kind: BackendKind
    ) async throws {
        try await withTemporaryFolder { folder in
            try await withBackend(kind, path: folder + "/store.sqlite") { client in
                try await Self.put(0..<500, on: client)
                let signal = StopSignal()
                let clause = Self.isNumber(499)
                let requests: [ReadRequest] = [
                    .page(Query(clause: clause), in: Self.bucket),
                    .count(clause, in: Self.bucket),
                    .explanation(Query(clause: clause), in: Self.bucket, analyze: true),
                ]
                let reads = try requests.map { try client.backend.prepare($0) }
                for read in reads { _ = try Self.outcome(of: read, until: signal) }
                signal.stop()
                for read in reads {
                    #expect(
                        throws: ServiceFailure(.temporarilyUnavailable, "the query was stopped")
                    ) { try Self.outcome(of: read, until: signal) }
                    #expect(try !Self.outcome(of: read).isEmpty)
                }
            }
        }
    }

    /// - Parameter arePublished: whether the columns are published before the read may run.
    @Test(arguments: BackendKind.all, [false, true])
    func `a read that waited for columns is prepared anew, and its key goes on`(
        on kind: BackendKind, arePublished: Bool
    ) async throws {
        try await withTemporaryFolder { folder in
            try await withBackend(kind, path: folder + "/store.sqlite", makesColumns: true) {
                client in
                try await Self.put(0..<400, on: client)
                // All values are equal: the key tells where the page ended by creation alone.
                var query = Query(order: [OrderKey(.field(FieldPath("none")))], limit: 10)
                var read = try client.backend.prepare(.page(query, in: Self.bucket))
                #expect(read.isCostly)
                // So many holes that the rest is renumbered.
                let clause = #"{"type":"range","field":"n","upperLimit":199}"#
                try await client.value(
                    "bucket.deleteWhere",
                    #"{"bucket":"many","bucketQuery":{"clause":\#(clause)}}"#)
                if arePublished {
                    _ = try Self.outcome(of: client.backend.prepare(.page(query, in: Self.bucket)))
                }
                client.backend.settle()
                await withCheckedContinuation { continuation in
                    let mayRun = read.mayRun(
                        since: monotonicNanoseconds(), after: 0, until: StopSignal()
                    ) {
                        #expect($0 == nil)
                        continuation.resume()
                    }
                    if mayRun { continuation.resume() }
                }
                read = try client.backend.prepare(.page(query, in: Self.bucket))
                var ids: [String] = []
                while true {
                    var writer = JSONWriter()
                    writer.raw("[")
                    let end = try read.run(into: &writer)
                    writer.raw("]")
                    ids += try JSONParser.reading(writer.bytes) { page in
                        page.elements.map { $0["_id"]!.string! }
                    }
                    guard let key = end.nextPaginationKey, ids.count < 400 else { break }
                    query.paginationKey = key
                    read = try client.backend.prepare(.page(query, in: Self.bucket))
                }
                #expect(ids == (200..<400).map { "o\($0)" })
            }
        }
    }

    @Test(arguments: BackendKind.all)
    func `distances that every object of a page reports are counted as work`(on kind: BackendKind)
        async throws
    {
        try await withTemporaryFolder { folder in
            try await withBackend(kind, path: folder + "/store.sqlite") { client in
                let point = #"{"_type":"point","lat":1,"lon":2}"#
                let objects = Array(repeating: #"{"p":\#(point)}"#, count: 200)
                try await client.value(
                    "object.putMany",
                    #"{"bucket":"many","objects":[\#(objects.joined(separator: ","))]}"#)
                func explained(_ count: Int, _ model: String) async throws -> Int {
                    let clauses = (0..<count).map {
                        #"{"type":"geodistance","field":"p","center":\#(point),"model":"\#(model)","#
                            + #""putDistanceInto":"d\#($0)"}"#
                    }
                    let clause = #"{"type":"or","clauses":[\#(clauses.joined(separator: ","))]}"#
                    let plan = try await client.value(
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
}
