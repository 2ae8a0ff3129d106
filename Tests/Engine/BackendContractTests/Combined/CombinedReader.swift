import JSONText
import TestSupport

/// Reads of one bucket, each compared with what the bucket was at the moments it may have seen.
struct CombinedReader {
    let bucket: CombinedBucket
    let world: CombinedWorld
    let client: any ContractClient
    /// Seed and bucket, for messages.
    let context: String

    /// One read of a random kind.
    func read(_ random: inout SplitMix64, _ tally: CombinedTally) async throws {
        switch random.below(22) {
        case 0...3: try await count(&random)
        case 6...9: try await walk(query(&random), pages: 1, &random)
        case 10...13: try await walk(query(&random), pages: 30, &random)
        case 14...16: try await get(&random)
        case 4, 5, 17: try await explain(query(&random), limit: random.pick([1, 5, 200]), tally)
        case 18, 19: if client is RemoteClient { try await export() }
        default: try await aggregate(&random, tally)
        }
    }

    /// A query for all of a page's kinds: by distance, by columns in both directions, as created.
    private func query(_ random: inout SplitMix64) -> CombinedQuery {
        let objects = bucket.objects()
        let isDescending = random.oneIn(2)
        if random.oneIn(4) {
            let circle = world.circle(putsDistance: true, &random)
            let both = [circle, world.clause(on: objects, &random)]
            return CombinedQuery(
                random.oneIn(2) ? circle : ClauseGenerator.list("and", both),
                order: [("_calculated.d", isDescending && random.oneIn(3))], distance: circle)
        }
        let all = JSONValue.object(["type": .string("all")])
        let clause = random.oneIn(3) ? all : world.clause(on: objects, &random)
        var order: [(field: String, descending: Bool)] = []
        if !random.oneIn(4) { order.append((random.pick(CombinedWorld.orders), isDescending)) }
        if random.oneIn(5) { order.append((random.pick(CombinedWorld.orders), random.oneIn(2))) }
        return CombinedQuery(clause, order: order)
    }

    // MARK: Reads

    /// - Parameter number: a moment that the read has to know of.
    func count(_ random: inout SplitMix64, knowing number: Int = 0) async throws {
        let query = CombinedQuery(world.clause(on: bucket.objects(), &random))
        _ = try await ask("bucket.count", #","bucketQuery":\#(query.text)"#, knowing: number) {
            answer, objects in
            answer.value["count"]?.int == query.count(objects)
        } describe: {
            "\(query.count($0))"
        }
    }

    private func aggregate(_ random: inout SplitMix64, _ tally: CombinedTally) async throws {
        let all = JSONValue.object(["type": .string("all")])
        let clause = random.oneIn(3) ? all : world.clause(on: bucket.objects(), &random)
        let query = CombinedQuery(clause)
        let aggregations = [OracleAggregation("COUNT", "")] + world.aggregations(&random)
        let members = #","bucketQuery":{"clause":\#(clause.text),\#(aggregations.member)}"#
        _ = try await ask("bucket.query", members) { answer, objects in
            // Few states have the right count, and only these are worth the sums.
            let found = answer.value["aggregations"]
            guard found?["a0"]?.int == query.count(objects) else { return false }
            return try JSONParser.reading(answer.text) {
                String(decoding: $0["aggregations"]!.text, as: UTF8.self)
            } == aggregations.answer(on: query.selected(objects))
        } describe: {
            aggregations.answer(on: query.selected($0)) ?? "refused"
        }
        tally.add("aggregations")
    }

    private func get(_ random: inout SplitMix64) async throws {
        let id = "o\(random.below(bucket.size))"
        _ = try await ask("object.get", #","id":"\#(id)""#) { answer, objects in
            guard let object = objects.first(where: { $0.id == id }) else {
                return answer.value["refused"]?.string == "OBJECT_NOT_FOUND"
            }
            return object.isAnswered(by: (answer.value, answer.text))
        } describe: { objects in
            objects.first { $0.id == id }?.whole.text ?? "none"
        }
    }

    private func explain(
        _ query: CombinedQuery, limit: Int, _ tally: CombinedTally
    ) async throws {
        let members = #","bucketQuery":\#(query.text),"bestEffortLimit":\#(limit),"analyze":true"#
        let plan = try await ask("bucket.explain", members) { answer, objects in
            answer.value["analyze"]?["objects"]?.int == min(limit, query.count(objects))
        } describe: {
            "\(min(limit, query.count($0))) objects on the page"
        }
        tally.add(plan.value["accessPath"]?.string ?? "no path")
    }

    /// Page after page; each goes on where the one before has ended, at whatever moment it is read.
    private func walk(
        _ query: CombinedQuery, pages: Int, _ random: inout SplitMix64
    ) async throws {
        var (key, last): (String?, CombinedQuery.Row?) = (nil, nil)
        for _ in 0..<pages {
            let limit = random.pick([1, 5, 20, 50, 200])
            let after = last
            let members =
                #","bucketQuery":\#(query.text),"bestEffortLimit":\#(limit)"#
                + (key.map { #","paginationKey":"\#($0)""# } ?? "")
            var page: Page?
            let answer = try await ask("bucket.query", members) { answer, objects in
                guard answer.value["results"] != nil else { return false }
                page = try page ?? Page(answer.text)
                let rows = query.results(objects, after: after)
                guard Self.isPage(page!, of: rows, limit) else { return false }
                last = rows.prefix(page!.results.count).last
                return true
            } describe: { objects in
                let rows = query.results(objects, after: after)
                return "\(rows.count) from \(rows.prefix(limit).map(\.object.id))"
            }
            key = answer.value["nextPaginationKey"]?.string
            if key == nil { return }
        }
    }

    private static func isPage(_ page: Page, of rows: [CombinedQuery.Row], _ limit: Int) -> Bool {
        let count = page.results.count
        guard count <= min(limit, rows.count), (page.nextKey != nil) == (rows.count > count),
            page.ids == rows.prefix(count).map(\.object.id)
        else { return false }
        // A page may end early when it would grow too long.
        let bytes = page.results.reduce(0) { $0 + $1.text.count }
        guard count == min(limit, rows.count) || bytes > 2_500 else { return false }
        return zip(page.results, rows).allSatisfy { $1.isAnswered(by: $0) }
    }

    /// The bucket as it was at the first call, but for what has expired meanwhile.
    private func export() async throws {
        var found: [(value: JSONValue, text: [UInt8])] = []
        var first: CombinedAnswer?
        let start = bucket.history.beginRead()
        var (isMore, moments): (Bool, [CombinedHistory.Moment]) = (true, [])
        while isMore {
            let params = #"{"bucket":"\#(bucket.name)","continue":\#(first != nil)}"#
            let answer = CombinedAnswer(try await client.call("bucket.export", params))
            if first == nil { moments = bucket.history.endRead(start).moments }
            first = first ?? answer
            found += try JSONParser.reading(answer.text) { view in
                try view["objects"]!.elements.map { (try JSONValue($0), Array($0.text)) }
            }
            isMore = answer.value["more"]?.bool ?? false
        }
        let end = bucket.history.present.time
        let ids = Set(found.map { $0.value["_id"]?.string ?? "?" })
        let position = moments.firstPosition { objects in
            let expected = objects.filter { $0.isThere(at: end) || ids.contains($0.id) }
            return expected.count == found.count
                && zip(found, expected).allSatisfy { $1.isAnswered(by: $0) }
        }
        guard let position else {
            throw disagreement("bucket.export", "\(found.map(\.value.text))", moments) {
                "\($0.map(\.whole.text))"
            }
        }
        bucket.history.know(start + position)
    }

    // MARK: Asking

    /// Asks, and looks for a moment that the answer fits.
    private func ask(
        _ method: String, _ members: String, knowing number: Int = 0,
        fits: (CombinedAnswer, [ModelObject]) throws -> Bool,
        describe: ([ModelObject]) -> String
    ) async throws -> CombinedAnswer {
        let params = #"{"bucket":"\#(bucket.name)"\#(members)}"#
        let start = bucket.history.beginRead(knowing: number)
        let answer: CombinedAnswer
        do {
            answer = CombinedAnswer(try await client.call(method, params))
        } catch let refusal as Refusal {
            answer = CombinedAnswer(Array(#"{"refused":"\#(refusal.errorCode)"}"#.utf8))
        }
        let (first, moments) = bucket.history.endRead(start)
        guard let position = try moments.firstPosition(where: { try fits(answer, $0) }) else {
            throw disagreement("\(method) \(params)", answer.value.text, moments, describe)
        }
        bucket.history.know(first + position)
        return answer
    }

    private func disagreement(
        _ request: String, _ answer: String, _ moments: [CombinedHistory.Moment],
        _ describe: ([ModelObject]) -> String
    ) -> Disagreement {
        var states: [String] = []
        _ = moments.firstPosition { objects in
            states.append(describe(objects))
            return false
        }
        return Disagreement(
            description: """
                \(context): \(request)
                was answered by \(answer.prefix(20_000))
                which fits none of \(moments.count) moments; at the first it would have been
                \(states.first?.prefix(20_000) ?? "") and at the last
                \(states.last?.prefix(20_000) ?? "")
                """)
    }
}

/// An answer as text and as what it says.
struct CombinedAnswer {
    let text: [UInt8]
    let value: JSONValue

    init(_ text: [UInt8]) {
        self.text = text
        value = (try? JSONValue(parsing: text)) ?? .string("no JSON")
    }
}
