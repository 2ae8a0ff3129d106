import Geodesy
import JSONText
import QueryLanguage
import TestSupport
import Testing

/// The bytes of sort keys against the order that the specification describes.
@Suite struct SortKeyTests {
    private static let seeds: [UInt64] = Array(1...12)

    /// Values of every type, those that lie near each other among them; nil is a missing field.
    private static func values(_ random: inout SplitMix64) throws -> [JSONValue?] {
        let objects = ObjectGenerator(&random)
        var texts = ["null", "true", "false", "[]", "[1]", "{}", #"{"a":1}"#, #"{"_type":"x"}"#]
        texts += (0..<40).map { _ in objects.number(&random) }
        texts += (0..<30).map { _ in objects.string(&random) }
        texts += (0..<12).map { _ in objects.point(&random) }
        return try texts.map { try JSONValue(parsing: $0) } + [nil]
    }

    private static func key(_ values: [(JSONValue?, descending: Bool)]) throws -> SortKey {
        var key = SortKey()
        for (value, descending) in values {
            guard let value else {
                key.append(.missing, descending: descending)
                continue
            }
            try JSONParser.reading(Array(value.text.utf8)) {
                key.append(SortValue($0), descending: descending)
            }
        }
        return key
    }

    private static func sign(_ a: SortKey, _ b: SortKey) -> Int { a < b ? -1 : (b < a ? 1 : 0) }

    @Test(arguments: [false, true])
    func `keys of one value order as the values do`(descending: Bool) throws {
        for seed in Self.seeds {
            var random = SplitMix64(seed: seed)
            let values = try Self.values(&random)
            let keys = try values.map { try Self.key([($0, descending)]) }
            for (a, x) in zip(values, keys) {
                for (b, y) in zip(values, keys) {
                    let expected = OracleOrder.compare(a, b, descending: descending).signum()
                    guard Self.sign(x, y) != expected || (expected == 0) != (x == y) else {
                        continue
                    }
                    Issue.record(
                        "seed \(seed): \(a?.text ?? "missing") and \(b?.text ?? "missing") should compare \(expected)"
                    )
                }
            }
        }
    }

    @Test func `keys of several values order by the first that differs`() throws {
        for seed in Self.seeds {
            var random = SplitMix64(seed: seed)
            let values = try Self.values(&random)
            for _ in 0..<1_500 {
                let directions = [random.oneIn(2), random.oneIn(2), random.oneIn(2)]
                // From few values, so that the first are often equal.
                let few = (0..<3).map { _ in random.pick(values) }
                let (a, b) = (
                    directions.map { _ in random.pick(few) },
                    directions.map { _ in random.pick(few) }
                )
                let expected =
                    zip(zip(a, b), directions).lazy.map {
                        OracleOrder.compare($0.0, $0.1, descending: $1).signum()
                    }.first { $0 != 0 } ?? 0
                let (x, y) = (
                    try Self.key(zip(a, directions).map { ($0, $1) }),
                    try Self.key(zip(b, directions).map { ($0, $1) })
                )
                #expect(
                    Self.sign(x, y) == expected,
                    "seed \(seed): \(a.map { $0?.text ?? "missing" }), \(b.map { $0?.text ?? "missing" }), \(directions)"
                )
            }
        }
    }

    @Test func `a key gives its values back`() throws {
        for seed in Self.seeds {
            var random = SplitMix64(seed: seed)
            let values = try Self.values(&random)
            for _ in 0..<300 {
                let parts = (0..<3).map { _ in (random.pick(values), descending: random.oneIn(2)) }
                let key = try Self.key(parts)
                let back = try #require(key.values(descending: parts.map(\.descending)))
                var again = SortKey()
                for (value, part) in zip(back, parts) {
                    again.append(value, descending: part.descending)
                }
                #expect(again == key, "seed \(seed): \(parts.map { $0.0?.text ?? "missing" })")
                #expect(key.values(descending: Array(repeating: false, count: 4)) == nil)
            }
        }
    }

    @Test func `distances order by length, a missing one last in both directions`() {
        let lengths: [Int64?] = [
            0, 1, 255, 256, 65_535, 1 << 32, 20_015_086_796_020, 20_015_115_000_000, nil,
        ]
        for descending in [false, true] {
            for a in lengths {
                for b in lengths {
                    var (x, y) = (SortKey(), SortKey())
                    x.append(
                        SortValue(a.map(Distance.init(micrometers:))), descending: descending)
                    y.append(
                        SortValue(b.map(Distance.init(micrometers:))), descending: descending)
                    let expected = OracleOrder.compare(
                        a.map { .int(Int($0)) }, b.map { .int(Int($0)) }, descending: descending)
                    #expect(Self.sign(x, y) == expected, "\(a ?? -1), \(b ?? -1), \(descending)")
                }
            }
        }
    }
}
