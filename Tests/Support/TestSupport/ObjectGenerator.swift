import JSONText

/// A document as it is sent and as it has to come back.
public struct GeneratedDocument: Sendable {
    /// With white space that means nothing.
    public var sent: String
    /// Minified, spelled as it was sent.
    public var stored: String
    public var value: JSONValue
}

/// Documents of the kinds that random data does not find: ties, neighbours of 2^53, 2^63 and 2^64,
/// one value in several spellings, strings that only code points tell apart, poles, ±180°,
/// antipodes, mixed types, nested duplicates, names with dots.
public struct ObjectGenerator: Sendable {
    /// The places of one run: few, so that they meet.
    public let positions: [(latitude: String, longitude: String)]

    /// Field paths that documents have, and some that hardly any has.
    public static let paths = [
        "n", "n", "s", "s", "b", "mix", "mix", "tags", "x.y", "home.city", "home.n", "dup.k",
        "loc.lat", "loc", "odd name", "", "nope", "home.nope", "_id", "_version", "_modified",
    ]

    /// Field paths that hold a GeoPoint or an array of them, always, mostly or now and then.
    public static let geoPaths = [
        "loc", "loc", "spots", "spots", "home.loc", "alt", "mix", "tags", "dot.ted", "nope",
    ]

    public init(_ random: inout SplitMix64) {
        var positions = [
            ("90", "0"), ("90.0", "123.5"), ("-90", "180"), ("0", "180"), ("0", "-180"),
            ("-0.0", "180.0"), ("0", "0"), ("35.658603", "139.745433"),
            ("-35.658603", "-40.254567"), ("35.6586030000001", "139.745433"),
            // A metre and some metres from the antipode, where an arc sine loses its digits.
            ("-35.65861", "-40.25457"), ("-35.6587", "-40.2546"),
        ].shuffled(using: &random).prefix(9).map { (latitude: $0.0, longitude: $0.1) }
        for _ in 0..<5 {
            let near = random.number(-2...2)
            positions.append(("\(35 + near)", "\(139 + random.number(-2...2))"))
        }
        positions.append(("\(random.number(-90...90))", "\(random.number(-180...180))"))
        self.positions = positions
    }

    var oraclePositions: [OraclePosition] {
        positions.map { OraclePosition(.point(Double($0.latitude)!, Double($0.longitude)!))! }
    }

    public func document(_ random: inout SplitMix64) -> GeneratedDocument {
        var members: [(name: String, value: String)] = []
        func add(_ name: String, _ value: String) { members.append((name, value)) }
        if !random.oneIn(6) { add(#""n""#, number(&random)) }
        if !random.oneIn(6) { add(#""s""#, string(&random)) }
        if !random.oneIn(4) { add(#""b""#, random.pick(["true", "false", "null"])) }
        if !random.oneIn(5) { add(#""mix""#, anything(&random)) }
        if !random.oneIn(5) { add(#""loc""#, point(&random)) }
        if random.oneIn(2) { add(#""alt""#, random.oneIn(3) ? scalar(&random) : point(&random)) }
        if random.oneIn(2) { add(#""spots""#, spots(&random)) }
        if random.oneIn(2) { add(#""home""#, home(&random)) }
        if random.oneIn(3) { add(#""tags""#, array(&random)) }
        if random.oneIn(3) { add(#""x.y""#, scalar(&random)) }
        if random.oneIn(3) { add(#""x""#, #"{"y":\#(scalar(&random)),"y.z":1}"#) }
        if random.oneIn(3) {
            add(#""dup""#, #"{"k":\#(scalar(&random)),"k":\#(scalar(&random))}"#)
        }
        if random.oneIn(4) { add(#""dot.ted""#, point(&random)) }
        if random.oneIn(4) { add(#""dot""#, #"{"ted":\#(point(&random))}"#) }
        if random.oneIn(5) { add(#""odd name""#, scalar(&random)) }
        if random.oneIn(6) { add(#""""#, scalar(&random)) }
        members.shuffle(using: &random)
        let stored = "{\(members.map { "\($0.name):\($0.value)" }.joined(separator: ","))}"
        let sent = "{ \(members.map { "\($0.name) : \($0.value)" }.joined(separator: " , ")) }"
        guard let value = try? JSONValue(parsing: stored) else {
            preconditionFailure("not JSON: \(stored)")
        }
        return GeneratedDocument(sent: sent, stored: stored, value: value)
    }

    /// A merge patch: new values, removals, and a few members below the first level.
    public func patch(_ random: inout SplitMix64) -> String {
        var members: [String] = []
        if random.oneIn(2) {
            members.append(#""n":\#(random.oneIn(3) ? "null" : number(&random))"#)
        }
        if random.oneIn(2) {
            members.append(#""loc":\#(random.oneIn(3) ? "null" : point(&random))"#)
        }
        if random.oneIn(2) {
            members.append(
                #""home":{"city":null,"n":\#(number(&random)),"new":{"a":null,"b":[null]}}"#)
        }
        if random.oneIn(3) {
            members.append(#""spots":\#(random.oneIn(3) ? "null" : spots(&random))"#)
        }
        if random.oneIn(3) { members.append(#""mix":\#(anything(&random))"#) }
        if random.oneIn(3) { members.append(#""dup":{"k":\#(scalar(&random))}"#) }
        if random.oneIn(4) { members.append(#""x.y":\#(scalar(&random))"#) }
        return "{\(members.joined(separator: ","))}"
    }

    public func point(_ random: inout SplitMix64) -> String {
        let position = random.pick(positions)
        return #"{"_type":"point","lat":\#(position.latitude),"lon":\#(position.longitude)}"#
    }

    public func scalar(_ random: inout SplitMix64) -> String {
        switch random.below(7) {
        case 0: "null"
        case 1: random.oneIn(2) ? "true" : "false"
        case 2, 3: string(&random)
        default: number(&random)
        }
    }

    private func anything(_ random: inout SplitMix64) -> String {
        switch random.below(8) {
        case 0: array(&random)
        case 1: random.pick(["{}", #"{"a":{"b":[{"c":null}]}}"#, #"{"_type":"line","lat":1}"#])
        case 2: point(&random)
        default: scalar(&random)
        }
    }

    private func array(_ random: inout SplitMix64) -> String {
        let elements = (0..<random.below(4)).map { _ in
            random.oneIn(4)
                ? (random.oneIn(2) ? point(&random) : "[1]") : scalar(&random)
        }
        return "[\(elements.joined(separator: ","))]"
    }

    /// Several places, some of them twice, between other things; now and then one alone.
    private func spots(_ random: inout SplitMix64) -> String {
        if random.oneIn(6) { return point(&random) }
        let count = random.oneIn(8) ? 20 : random.below(6)
        let elements = (0..<count).map { _ in
            random.oneIn(8) ? "[\(point(&random))]" : random.oneIn(8) ? "7" : point(&random)
        }
        return "[\(elements.joined(separator: ","))]"
    }

    private func home(_ random: inout SplitMix64) -> String {
        var members = [#""city":\#(string(&random))"#]
        if random.oneIn(2) { members.append(#""n":\#(scalar(&random))"#) }
        if random.oneIn(2) {
            members.append(#""loc":\#(random.oneIn(4) ? array(&random) : point(&random))"#)
        }
        if random.oneIn(5) { members.append(#""loc":\#(point(&random))"#) }
        return "{\(members.joined(separator: ","))}"
    }

    public func number(_ random: inout SplitMix64) -> String {
        random.oneIn(3) ? "\(random.below(5))" : random.pick(Self.numbers)
    }

    public func string(_ random: inout SplitMix64) -> String {
        "\"\(random.pick(Self.strings))\""
    }

    private static let numbers = [
        "0", "-0", "-0.0", "0.0", "1", "1.0", "1e0", "10E-1", "-1", "2.5", "0.1",
        "0.10000000000000001", "0.30000000000000004", "5e-324", "1e-400", "1e300", "-1e300",
        "1.7976931348623157e308", "9007199254740991", "9007199254740992", "9007199254740993",
        "9007199254740992.0", "9007199254740994", "-9007199254740993", "-9007199254740992.0",
        "9223372036854775807", "9223372036854775808", "9223372036854775809",
        "9.223372036854775807e18", "9223372036854774784.0", "-9223372036854775808",
        "-9223372036854775807", "-9223372036854775809", "-9.223372036854775808e18",
        "18446744073709551614", "18446744073709551615", "18446744073709551616",
        "1.8446744073709552e19", "18446744073709549568.0", "18446744073709549569",
    ]

    /// JSON spellings: prefixes of each other, NUL, é composed and not, beyond the BMP and at its
    /// end (where UTF-16 and code points order differently), escapes of plain letters.
    private static let strings = [
        "", "a", "a", "ab", "abc", "a\\u0000", "a\\u0000b", "\\u0000", "\\u0061b", "A", "b", "z",
        "é", "e\\u0301", "\\u00e9", "éa", "e", "\u{1F600}", "\\ud83d\\ude00", "\\ud83d\\ude00x",
        "\u{FFFF}", "\u{FFFD}", "ﬀ", "\u{1F1EB}\u{1F1F7}", "\u{1F1EB}", "a\\/b", "\\\"", "\\\\",
        "\\n", "ss", "ß", "\u{212A}", "K", "\u{E000}",
        "a long one: " + String(repeating: "0123456789", count: 60),
    ]
}
