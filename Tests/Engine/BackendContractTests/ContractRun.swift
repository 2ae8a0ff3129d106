import JSONText
import TestSupport
import Testing

/// One seed's run: a bucket of the service and the oracle's own, kept alike and compared.
struct ContractRun {
    let seed: UInt64
    let clock: TestClock
    let bucketName: String
    let objects: ObjectGenerator
    var random: SplitMix64
    var bucket = OracleBucket()
    /// Whether the bucket exists, empty or not.
    var exists = false
    /// How often `bucket.explain` named each access path.
    var accessPaths: [String: Int] = [:]
    /// Queries that found something.
    private(set) var nonEmpty = 0
    /// Whether the service makes columns for the run's small buckets.
    var usesColumns = false
    private let ids: [String]

    init(seed: UInt64, clock: TestClock, scope: String = "", ids count: Int = 45) {
        var random = SplitMix64(seed: seed)
        self.seed = seed
        self.clock = clock
        bucketName = "\(scope)bucket-\(seed)"
        objects = ObjectGenerator(&random)
        ids = (0..<count).map { "id.\($0)" } + ["A-", "a-", "zz_", "00"]
        self.random = random
    }

    // MARK: Writes

    /// Random writes, one after the other; each answer is compared with what the oracle says.
    ///
    /// - Returns: the ids that were touched.
    @discardableResult
    mutating func write(steps: Int, on client: some ContractClient) async throws -> Set<String> {
        var touched: Set<String> = []
        for _ in 0..<steps {
            clock.advance(Int64(random.below(5) - 1))
            switch random.below(40) {
            case 0: touched.formUnion(try await deleteBucket(on: client))
            case 1, 2: touched.formUnion(try await deleteWhere(on: client))
            case 3...8: touched.formUnion(try await patch(on: client))
            case 9...14: touched.formUnion(try await delete(on: client))
            case 15...19: touched.formUnion(try await putMany(1 + random.below(12), on: client))
            default: touched.formUnion(try await put(on: client))
            }
        }
        return touched
    }

    mutating func putMany(_ count: Int, on client: some ContractClient) async throws -> Set<String>
    {
        let ids = self.ids.shuffled(using: &random).prefix(count)
        let documents = ids.map { _ in objects.document(&random) }
        let list = zip(ids, documents).map { id, document in
            // An empty object has no member for the id to stand before.
            document.value.names.isEmpty
                ? #"{"_id":"\#(id)"}"#
                : #"{"_id":"\#(id)",\#(document.sent.dropFirst())"#
        }
        let answer = try await client.value(
            "object.putMany",
            #"{"bucket":"\#(bucketName)","objects":[\#(list.joined(separator: ","))]}"#)
        for (id, document) in zip(ids, documents) {
            bucket.put(id, document.value, text: document.stored, now: Int(clock.now))
        }
        let stored = answer["objects"]?.array ?? []
        #expect(stored.map { $0["_id"]?.string } == ids.map { $0 }, "seed \(seed)")
        #expect(
            stored.map { $0["_version"]?.int } == ids.map { bucket.object($0)!.version },
            "seed \(seed)")
        exists = true
        return Set(ids)
    }

    private mutating func put(on client: some ContractClient) async throws -> Set<String> {
        let id = random.pick(ids)
        let document = objects.document(&random)
        try await client.value(
            "object.put", #"{"bucket":"\#(bucketName)","id":"\#(id)","object":\#(document.sent)}"#)
        bucket.put(id, document.value, text: document.stored, now: Int(clock.now))
        exists = true
        return [id]
    }

    private mutating func patch(on client: some ContractClient) async throws -> Set<String> {
        let id = random.pick(ids)
        let patch = objects.patch(&random)
        let refusal = try await client.refusal(
            "object.patch", #"{"bucket":"\#(bucketName)","id":"\#(id)","object":\#(patch)}"#)
        let change = try JSONValue(parsing: patch)
        let merged = bucket.object(id)?.document.merged(with: change)
        // A patch may turn a GeoPoint into none, or something else into half a GeoPoint.
        let expected = merged.map { $0.hasMalformedPoint ? "INVALID_INPUT_DATA" : nil }
        #expect(
            refusal?.errorCode == (expected ?? "OBJECT_NOT_FOUND"),
            "seed \(seed), patch of \(id): \(patch)")
        guard refusal == nil else { return [] }
        bucket.patch(id, change, now: Int(clock.now))
        return [id]
    }

    private mutating func delete(on client: some ContractClient) async throws -> Set<String> {
        let id = random.pick(ids)
        let refusal = try await client.refusal(
            "object.delete", #"{"bucket":"\#(bucketName)","id":"\#(id)"}"#)
        #expect(
            refusal?.errorCode == (bucket.object(id) == nil ? "OBJECT_NOT_FOUND" : nil),
            "seed \(seed), delete of \(id)")
        bucket.delete([id])
        return [id]
    }

    private mutating func deleteWhere(on client: some ContractClient) async throws -> Set<String> {
        var clauses = ClauseGenerator(objects: objects, bucket: bucket)
        let clause = ClauseGenerator.list(
            "and", [clauses.clause(depth: 3, &random), clauses.ids(&random)])
        let answer = try await client.value(
            "bucket.deleteWhere",
            #"{"bucket":"\#(bucketName)","bucketQuery":{"clause":\#(clause.text)}}"#)
        let gone = Set(bucket.matches(clause).map(\.id))
        #expect(answer["deleted"]?.int == gone.count, "seed \(seed), \(clause.text)")
        bucket.delete(gone)
        return gone
    }

    /// Deletes random objects, at most 200, in one write.
    mutating func deleteMany(_ count: Int, on client: some ContractClient) async throws {
        let gone = bucket.objects.map(\.id).shuffled(using: &random).prefix(count)
        let values = JSONValue.array(gone.map(JSONValue.string)).text
        let answer = try await client.value(
            "bucket.deleteWhere",
            #"{"bucket":"\#(bucketName)","bucketQuery":{"clause":{"type":"in","field":"_id","#
                + #""values":\#(values)}}}"#)
        #expect(answer["deleted"]?.int == gone.count, "seed \(seed)")
        bucket.delete(Set(gone))
    }

    private mutating func deleteBucket(on client: some ContractClient) async throws -> Set<String> {
        let params = #"{"bucket":"\#(bucketName)"}"#
        let gone = Set(bucket.objects.map(\.id))
        if exists {
            let answer = try await client.value("bucket.delete", params)
            #expect(answer["deleted"]?.int == gone.count, "seed \(seed)")
        } else {
            let refusal = try await client.refusal("bucket.delete", params)
            #expect(refusal?.errorCode == "BUCKET_NOT_FOUND", "seed \(seed)")
        }
        bucket.deleteAll()
        exists = false
        return gone
    }

    // MARK: Queries

    /// Random queries, each walked to its end and counted, compared with the oracle.
    mutating func check(queries count: Int, on client: some ContractClient) async throws {
        for _ in 0..<count {
            let query = QueryGenerator(objects: objects).query(on: bucket, &random)
            let expected = bucket.results(query.oracle)
            let found = try await walk(query, on: client)
            nonEmpty += expected.isEmpty ? 0 : 1
            let fault = difference(found, expected, projected: query.oracle.fields != nil)
            #expect(fault == nil, "seed \(seed), \(query.bucketQuery)\(query.fieldsMember)")
            try await checkCount(query, expected.count, on: client)
            try await checkAggregations(query, expected, on: client)
            try await checkClusters(query, expected, on: client)
            let plan = try await client.value(
                "bucket.explain", RemoteClient.params(bucketName, query, "3"))
            accessPaths[plan["accessPath"]?.string ?? "none", default: 0] += 1
            if random.oneIn(3) { try await checkScan(query, expected, on: client) }
        }
    }

    /// Every page, with limits that change on the way.
    private mutating func walk(
        _ query: GeneratedQuery, on client: some ContractClient
    ) async throws -> [(value: JSONValue, text: [UInt8])] {
        var found: [(value: JSONValue, text: [UInt8])] = []
        var key: String?
        repeat {
            let limit = random.pick(
                ids.count > 100
                    ? [nil, "150", "\"77\""] : [nil, "0", "1", "2", "3", "7", "\"5\"", "50"])
            let page = try await client.page(bucketName, query, limit: limit, key: key)
            let size = limit.flatMap { Int($0.filter { $0 != "\"" }) } ?? 0
            if page.nextKey != nil, size > 0 {
                #expect(page.results.count == size, "seed \(seed), \(query.bucketQuery)")
            }
            found += page.results
            key = page.nextKey
            guard found.count <= 4 * ids.count else { break }
            if key != nil, page.results.isEmpty { break }
        } while key != nil
        return found
    }

    private func checkCount(
        _ query: GeneratedQuery, _ expected: Int, on client: some ContractClient
    ) async throws {
        let count = try await client.value(
            "bucket.count",
            #"{"bucket":"\#(bucketName)","bucketQuery":{"clause":\#(query.clauseText)}}"#)
        #expect(count["count"]?.int == expected, "seed \(seed), \(query.clauseText)")
    }

    /// Aggregations of the query's matches, compared as text.
    private mutating func checkAggregations(
        _ query: GeneratedQuery, _ matches: [OracleResult], on client: some ContractClient
    ) async throws {
        let clause = random.oneIn(4) ? #"{"type":"all"}"# : query.clauseText
        let aggregations = OracleAggregation.random(&random)
        let objects = clause == query.clauseText ? matches.map(\.object) : bucket.objects
        let expected = aggregations.answer(on: objects.map(\.whole))
        let params =
            #"{"bucket":"\#(bucketName)","bucketQuery":{"clause":\#(clause),"#
            + "\(aggregations.member)}}"
        let context = "seed \(seed), \(params)"
        do {
            let answer = try await client.call("bucket.query", params)
            let found = try JSONParser.reading(answer) {
                String(decoding: $0["aggregations"]!.text, as: UTF8.self)
            }
            #expect(found == expected, "\(context)")
        } catch let refusal as Refusal {
            #expect(refusal.errorCode == "QUERY_NOT_SUPPORTED" && expected == nil, "\(context)")
        }
        if random.oneIn(4) { try await client.value("bucket.explain", params) }
    }

    /// The same clause beside one that no index knows and no object satisfies: no access path but the
    /// scan finds it.
    private func checkScan(
        _ query: GeneratedQuery, _ expected: [OracleResult], on client: some ContractClient
    ) async throws {
        let never = try JSONValue(parsing: #"{"type":"prefix","field":"no such","prefix":"z"}"#)
        let either = ClauseGenerator.list("or", [query.oracle.clause!, never]).text
        var scan = query
        scan.bucketQuery = query.bucketQuery.replacing(query.clauseText, with: either)
        let plan = try await client.value("bucket.explain", RemoteClient.params(bucketName, scan))
        #expect(
            usesColumns || plan["accessPath"]?.string == "scan", "seed \(seed), \(scan.bucketQuery)"
        )
        let page = try await client.page(bucketName, scan, limit: nil)
        let expected = Array(expected.prefix(200))
        let fault = difference(page.results, expected, projected: query.oracle.fields != nil)
        #expect(fault == nil, "seed \(seed), \(scan.bucketQuery)")
    }
}
