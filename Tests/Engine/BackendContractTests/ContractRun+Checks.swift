import JSONText
import TestSupport
import Testing

extension ContractRun {
    /// Writes and queries in turn.
    mutating func history(rounds: Int, on client: some ContractClient) async throws {
        try await check(queries: 2, on: client)
        _ = try await putMany(30, on: client)
        for _ in 0..<rounds {
            try await write(steps: 12, on: client)
            try await check(queries: 12, on: client)
        }
        try await checkObjects(on: client)
        try await checkFields(on: client)
    }

    /// Every object by its id.
    func checkObjects(on client: some ContractClient) async throws {
        for object in bucket.objects {
            let found = try await client.value(
                "object.get", #"{"bucket":"\#(bucketName)","id":"\#(object.id)"}"#)
            #expect(
                found.isIdentical(to: object.whole),
                "seed \(seed): \(found.text), expected \(object.whole.text)")
        }
    }

    /// The store's own check, and its count.
    func checkStore(_ path: String, of kind: BackendKind) throws {
        let report = try kind.check(path)
        #expect(report.problems == [], "seed \(seed)")
        #expect(report.objects == bucket.objects.count, "seed \(seed)")
    }

    /// One walk over all pages with writes and deletes between them: each page is right for the
    /// state it was read at, and what nobody touched appears once, in order.
    mutating func checkWalkAmongWrites(on client: some ContractClient) async throws {
        let query = QueryGenerator(objects: objects).query(on: bucket, &random)
        let context = "seed \(seed), \(query.bucketQuery)"
        let before = bucket.results(query.oracle).map(\.object.id)
        var touched: Set<String> = []
        var seen: [String] = []
        var key: String?
        for _ in 0..<200 {
            let limit = "\(1 + random.below(6))"
            let page = try await client.page(
                bucketName, query, limit: limit, key: key, fields: random.oneIn(2))
            try checkPage(page, query, context)
            seen += page.ids
            key = page.nextKey
            guard key != nil else { break }
            touched.formUnion(try await write(steps: random.below(4), on: client))
        }
        #expect(key == nil, "\(context): no end after 200 pages")
        let untouched = before.filter { !touched.contains($0) }
        #expect(seen.filter { !touched.contains($0) } == untouched, "\(context)")
    }

    /// Every document on a page is the present one and satisfies the clause.
    private func checkPage(_ page: Page, _ query: GeneratedQuery, _ context: String) throws {
        let expected = bucket.results(query.oracle)
        let ids = expected.map(\.object.id)
        for result in page.results {
            let id = result.value["_id"]!.string!
            let match = try #require(
                expected.first { $0.object.id == id }, "\(context): \(id) does not match")
            #expect(
                result.value["_version"].map { $0.int == match.object.version } ?? true,
                "\(context): \(id)")
        }
        // Within a page the order is that of one state.
        #expect(page.ids == ids.filter(page.ids.contains), "\(context)")
    }

    /// Objects counted by the values of fields, before the engine has columns of them and after.
    func checkCounts(on client: DirectClient) async throws {
        let texts = Set(bucket.objects.prefix(50).compactMap { $0.document["s"]?.string }).sorted()
        let clauses =
            ["true", "false"].map { #"{"type":"eq","field":"b","value":\#($0)}"# }
            + texts.prefix(6).map { text in
                #"{"type":"eq","field":"s","value":\#(JSONValue.string(text).text)}"#
            }
        for round in 0..<2 {
            for clause in clauses {
                let found = try await client.value(
                    "bucket.count",
                    #"{"bucket":"\#(bucketName)","bucketQuery":{"clause":\#(clause)}}"#)
                let expected = bucket.matches(try JSONValue(parsing: clause)).count
                #expect(found["count"]?.int == expected, "seed \(seed), round \(round), \(clause)")
            }
            client.backend.settle()
        }
    }

    /// Deletes all objects but a third, at most 200, in one write.
    mutating func deleteMost(on client: DirectClient) async throws {
        let ids = bucket.objects.prefix(min(200, bucket.objects.count / 3)).map(\.id)
        let list = JSONValue.array(ids.map(JSONValue.string)).text
        let clause = #"{"type":"not","clause":{"type":"in","field":"_id","values":\#(list)}}"#
        let gone = Set(bucket.matches(try JSONValue(parsing: clause)).map(\.id))
        let answer = try await client.value(
            "bucket.deleteWhere",
            #"{"bucket":"\#(bucketName)","bucketQuery":{"clause":\#(clause)}}"#)
        #expect(answer["deleted"]?.int == gone.count, "seed \(seed)")
        bucket.delete(gone)
    }
}
