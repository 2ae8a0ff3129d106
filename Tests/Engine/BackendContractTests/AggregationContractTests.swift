import BackendContract
import InMemoryEngine
import JSONText
import Objects
import QueryLanguage
import TestSupport
import Testing

/// Aggregations over columns that are narrow and wide, and over documents.
@Suite struct AggregationContractTests {
    /// Fields of few, of some hundred and of as many values as there are objects.
    private static func document(_ number: Int, _ random: inout SplitMix64) -> String {
        let names = ["cafe", "bar", "école", "", "zoo"]
        var members = [#""few":"\#(random.pick(names))""#, #""some":\#(random.below(700))"#]
        members.append(#""each":\#(number % 3 == 0 ? "\(number)" : "\"o\(number)\"")"#)
        members.append(#""price":\#(Double(random.below(100_000)) / 100)"#)
        let hard = [
            "9007199254740993", "18446744073709551615", "-0.0", "1e300", "null", "[2]", "true",
        ]
        if random.oneIn(3) { members.append(#""hard":\#(random.pick(hard))"#) }
        return "{\(members.joined(separator: ","))}"
    }

    private static let fields = ["few", "some", "each", "price", "hard", "nope", "_version"]

    private static func aggregations(_ random: inout SplitMix64) -> [OracleAggregation] {
        (0..<1 + random.below(6)).map { _ in
            OracleAggregation(
                random.pick(["COUNT", "GROUP", "GROUP", "MIN", "MAX", "SUM", "AVG"]),
                random.pick(fields), limit: random.pick([nil, 1, 3, 1_000]))
        }
    }

    private static func put(
        _ count: Int, _ bucket: inout OracleBucket, _ random: inout SplitMix64,
        _ client: DirectClient
    ) async throws {
        let documents = (0..<count).map { ("o\($0)", document($0, &random)) }
        let list = documents.map { #"{"_id":"\#($0.0)",\#($0.1.dropFirst())"# }
        try await client.value(
            "object.putMany", #"{"bucket":"b1","objects":[\#(list.joined(separator: ","))]}"#)
        for (id, text) in documents {
            bucket.put(id, try JSONValue(parsing: text), text: text, now: 0)
        }
    }

    private static func check(
        _ clause: String, _ aggregations: [OracleAggregation], _ bucket: OracleBucket,
        _ client: DirectClient, _ context: String
    ) async throws {
        let query = #"{"clause":\#(clause),\#(aggregations.member)}"#
        let answer = try await client.call(
            "bucket.query", #"{"bucket":"b1","bucketQuery":\#(query)}"#)
        let found = try JSONParser.reading(answer) {
            String(decoding: $0["aggregations"]!.text, as: UTF8.self)
        }
        let objects = bucket.matches(try JSONValue(parsing: clause)).map(\.whole)
        #expect(found == aggregations.answer(on: objects), "\(context): \(query)")
    }

    @Test(arguments: [false, true], [3, 17, 91] as [UInt64])
    func `narrow and wide columns, and holes among them, answer as documents do`(
        makesColumns: Bool, seed: UInt64
    ) async throws {
        var random = SplitMix64(seed: seed)
        try await withTemporaryFolder { folder in
            var limits = Limits()
            limits.replyBytes = 10_000_000
            var tuning = Engine.Tuning.eager
            tuning.holes = 100_000  // none is closed
            if !makesColumns { tuning.smallestBucket = .max }
            try await withBackend(
                .embedded, path: folder + "/s.sqlite", limits: limits, tuning: tuning
            ) { client in
                var client = client
                client.settles = true
                var bucket = OracleBucket()
                try await Self.put(1_500, &bucket, &random, client)
                for round in 0..<30 {
                    if round % 10 == 9 {
                        let gone = #"{"type":"eq","field":"some","value":\#(random.below(700))}"#
                        let ids = Set(bucket.matches(try JSONValue(parsing: gone)).map(\.id))
                        try await client.value(
                            "bucket.deleteWhere",
                            #"{"bucket":"b1","bucketQuery":{"clause":\#(gone)}}"#)
                        bucket.delete(ids)
                    }
                    let clause = random.pick([
                        #"{"type":"all"}"#, #"{"type":"all"}"#,
                        #"{"type":"eq","field":"few","value":"bar"}"#,
                        #"{"type":"range","field":"some","lowerLimit":300}"#,
                        #"{"type":"not","clause":{"type":"eq","field":"hard","value":true}}"#,
                        #"{"type":"eq","field":"few","value":"none"}"#,
                    ])
                    try await Self.check(
                        clause, Self.aggregations(&random), bucket, client,
                        "seed \(seed), round \(round)")
                }
                let columns = client.backend.statistics().columns
                #expect(makesColumns ? columns >= 6 : columns == 0)
            }
        }
    }

    @Test(arguments: [false, true], ["few", "some", "each"])
    func `groupBytes refuses the same groups with columns and without`(
        makesColumns: Bool, field: String
    ) async throws {
        var random = SplitMix64(seed: 5)
        let documents = (0..<1_000).map { Self.document($0, &random) }
        let values = Set(
            try documents.map { try JSONValue(parsing: $0)[field]! }.map {
                $0.string ?? "number \($0.text)"
            })
        let strings = values.filter { !$0.hasPrefix("number ") }
        let bytes = values.count * 64 + strings.reduce(0) { $0 + $1.utf8.count }
        for (limit, isRefused) in [(bytes, false), (bytes - 1, true)] {
            var limits = Limits()
            limits.groupBytes = limit
            try await withTemporaryFolder { folder in
                var tuning = Engine.Tuning.eager
                if !makesColumns { tuning.smallestBucket = .max }
                try await withBackend(
                    .embedded, path: folder + "/s.sqlite", limits: limits, tuning: tuning
                ) { client in
                    var client = client
                    client.settles = true
                    try await client.value(
                        "object.putMany",
                        #"{"bucket":"b1","objects":[\#(documents.joined(separator: ","))]}"#)
                    let sum = OracleAggregation("SUM", field)
                    let group = OracleAggregation("GROUP", field, limit: 1)
                    func params(_ aggregation: OracleAggregation) -> String {
                        #"{"bucket":"b1","bucketQuery":{\#([aggregation].member)}}"#
                    }
                    // The first one makes the column, and tells no values apart.
                    try await client.value("bucket.query", params(sum))
                    let refusal = try await client.refusal("bucket.query", params(group))
                    #expect(
                        refusal
                            == (isRefused
                                ? Refusal(
                                    errorCode: "QUERY_NOT_SUPPORTED",
                                    path: "bucketQuery.aggregations") : nil))
                }
            }
        }
    }
}
