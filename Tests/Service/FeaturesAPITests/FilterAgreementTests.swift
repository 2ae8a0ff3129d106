import JSONText
import Objects
import TestSupport
import Testing
import WebExchange

@testable import GISSites

/// Random filters: the features that are answered are those for which a naive evaluation of the same
/// expression, in SQL's three-valued logic, is true.
@Suite struct FilterAgreementTests {
    /// An expression as a text and as what it is of an object: nil is unknown.
    private struct Expression: Sendable {
        let text: String
        let truth: @Sendable (JSONValue) -> Bool?
    }

    private struct Generator {
        var random: SplitMix64

        mutating func expression(_ depth: Int) -> Expression {
            guard depth > 0, !random.oneIn(4) else { return predicate() }
            switch random.below(5) {
            case 0:
                let inner = expression(depth - 1)
                return Expression(text: "NOT (\(inner.text))") { object in
                    inner.truth(object).map { !$0 }
                }
            case 1, 2:
                let (a, b) = (expression(depth - 1), expression(depth - 1))
                return Expression(text: "(\(a.text)) AND (\(b.text))") {
                    let (a, b) = (a.truth($0), b.truth($0))
                    return a == false || b == false ? false : a == nil || b == nil ? nil : true
                }
            default:
                let (a, b) = (expression(depth - 1), expression(depth - 1))
                return Expression(text: "(\(a.text) or (\(b.text)))") {
                    let (a, b) = (a.truth($0), b.truth($0))
                    return a == true || b == true ? true : a == nil || b == nil ? nil : false
                }
            }
        }

        private static let fields = ["a", "b", "c", "missing", "o.x"]

        private static func value(_ name: String, in object: JSONValue) -> JSONValue? {
            name.split(separator: ".").reduce(Optional(object)) { $0?[String($1)] }
        }

        private mutating func predicate() -> Expression {
            let name = random.pick(Self.fields)
            let written = random.oneIn(3) ? "\"\(name)\"" : name
            let value: @Sendable (JSONValue) -> JSONValue? = { Self.value(name, in: $0) }
            switch random.below(9) {
            case 0, 1: return comparison(written, value)
            case 2: return between(written, value)
            case 3: return membership(written, value)
            case 4: return pattern(written, value)
            case 5:
                let isNegated = random.oneIn(2)
                return Expression(text: "\(written) IS \(isNegated ? "NOT " : "")NULL") {
                    ((value($0) ?? .null) == .null) != isNegated
                }
            case 6: return Expression(text: random.oneIn(2) ? "TRUE" : "true") { _ in true }
            default: return spatial()
            }
        }

        private static let strings = ["", "x", "xy", "it's", "y", "XY", "x%y", "IT'S"]

        /// A value as filters write it, and as JSON.
        private mutating func literal() -> (String, JSONValue) {
            switch random.below(5) {
            case 0:
                let bool = random.oneIn(2)
                return (bool ? "TRUE" : "FALSE", .bool(bool))
            case 1, 2:
                let number = random.below(5) - 2
                return random.oneIn(2)
                    ? ("\(number)", .int(number)) : ("\(number).5", .double(Double("\(number).5")!))
            default:
                let text = random.pick(Self.strings)
                let escaped = text.replacing("'", with: random.oneIn(2) ? "''" : "\\'")
                return ("'\(escaped)'", .string(text))
            }
        }

        /// Negative, zero or positive; nil for values that cannot be compared.
        private static func order(_ a: JSONValue?, _ b: JSONValue) -> Int? {
            switch (a, b) {
            case (.string(let a)?, .string(let b)):
                return a == b ? 0 : a.utf8.lexicographicallyPrecedes(b.utf8) ? -1 : 1
            case (.bool(let a)?, .bool(let b)): return a == b ? 0 : 1
            default:
                guard let a = a?.number, let b = b.number else { return nil }
                return a.double < b.double ? -1 : a.double > b.double ? 1 : 0
            }
        }

        private mutating func comparison(
            _ name: String, _ value: @escaping @Sendable (JSONValue) -> JSONValue?
        ) -> Expression {
            var (text, literal) = literal()
            let symbols: [(String, String, @Sendable (Int) -> Bool)] = [
                ("=", "=", { $0 == 0 }), ("<>", "<>", { $0 != 0 }), ("<", ">", { $0 < 0 }),
                ("<=", ">=", { $0 <= 0 }), (">", "<", { $0 > 0 }), (">=", "<=", { $0 >= 0 }),
            ]
            let (symbol, mirrored, holds) = random.pick(symbols)
            if literal.bool != nil, symbol.first != "=", symbol != "<>" {
                (text, literal) = ("1", .int(1))
            }
            let constant = literal
            return Expression(
                text: random.oneIn(3)
                    ? "\(text)\(mirrored)\(name)" : "\(name) \(symbol) \(text)"
            ) { Self.order(value($0), constant).map(holds) }
        }

        private mutating func between(
            _ name: String, _ value: @escaping @Sendable (JSONValue) -> JSONValue?
        ) -> Expression {
            let (low, high) = (random.below(5) - 2, random.below(5) - 2)
            let isNegated = random.oneIn(3)
            return Expression(
                text: "\(name) \(isNegated ? "NOT " : "")BETWEEN \(low) AND \(high)"
            ) {
                value($0)?.number.map {
                    ($0.double >= Double(low) && $0.double <= Double(high)) != isNegated
                }
            }
        }

        private mutating func membership(
            _ name: String, _ value: @escaping @Sendable (JSONValue) -> JSONValue?
        ) -> Expression {
            let literals = (0..<1 + random.below(3)).map { _ in literal() }
            let isNegated = random.oneIn(3)
            let list = literals.map(\.0).joined(separator: ", ")
            return Expression(text: "\(name) \(isNegated ? "not " : "")in (\(list))") { object in
                let found = literals.map { Self.order(value(object), $0.1).map { $0 == 0 } }
                let truth: Bool? =
                    found.contains(true) ? true : found.contains(nil) ? nil : false
                return truth.map { $0 != isNegated }
            }
        }

        private mutating func pattern(
            _ name: String, _ value: @escaping @Sendable (JSONValue) -> JSONValue?
        ) -> Expression {
            let parts = (0..<random.below(5)).map { _ in
                random.pick(["%", "%", "_", "x", "Y", "it''s", #"\%"#])
            }
            let pattern = parts.joined()
            let (isNegated, isFolded) = (random.oneIn(3), random.oneIn(2))
            let like = "\(isNegated ? "NOT " : "")LIKE"
            let text =
                isFolded
                ? "CASEI(\(name)) \(like) CASEI('\(pattern)')" : "\(name) \(like) '\(pattern)'"
            let oracle = OraclePattern(
                pattern.replacing("''", with: "'"), ignoringCase: isFolded)
            return Expression(text: text) {
                value($0)?.string.map { oracle.matches($0) != isNegated }
            }
        }

        /// Boxes and triangles over places with whole degrees, with edges between them.
        private mutating func spatial() -> Expression {
            let field = random.pick(["p", "q"])
            let places: @Sendable (JSONValue) -> [(Double, Double)] = { object in
                let value = object[field] ?? .null
                return (value.array ?? [value]).compactMap { point in
                    point["lon"]?.double.flatMap { lon in point["lat"]?.double.map { (lon, $0) } }
                }
            }
            let (west, south) = (Double(random.below(6)) - 0.5, Double(random.below(6)) - 0.5)
            let size = Double(1 + random.below(5))
            let (east, north) = (west + size, south + size)
            let function = random.pick(["S_INTERSECTS", "S_WITHIN", "s_intersects"])
            let geometry: String
            let contains: @Sendable (Double, Double) -> Bool
            switch random.below(3) {
            case 0:
                geometry = "BBOX(\(west),\(south),\(east),\(north))"
                contains = { $0 > west && $0 < east && $1 > south && $1 < north }
            case 1:
                let (lon, lat) = (Double(random.below(6)), Double(random.below(6)))
                geometry = "POINT(\(lon) \(lat))"
                contains = { $0 == lon && $1 == lat }
            default:
                geometry =
                    "POLYGON((\(west) \(south),\(east) \(south),\(east) \(north + 0.25),\(west) \(south)))"
                contains = {
                    $0 < east && $1 > south
                        && ($0 - west) * (north + 0.25 - south) > ($1 - south) * size
                }
            }
            // What is within the other comes first.
            let isFieldFirst = random.oneIn(2) || function == "S_WITHIN"
            let arguments = isFieldFirst ? "\(field), \(geometry)" : "\(geometry),\(field)"
            return Expression(text: "\(function)(\(arguments))") { object in
                let places = places(object)
                return places.isEmpty ? nil : places.contains { contains($0.0, $0.1) }
            }
        }

        // MARK: Objects

        mutating func object(_ number: Int) -> JSONValue {
            var members: [JSONValue.Member] = [.init("_id", .string("o\(number)"))]
            for name in ["a", "b", "c"] where !random.oneIn(5) {
                members.append(.init(name, value()))
            }
            if random.oneIn(2) { members.append(.init("o", .object(["x": value()]))) }
            members.append(.init("p", point()))
            if random.oneIn(2) {
                members.append(.init("q", random.oneIn(2) ? point() : .array([point(), point()])))
            }
            return .object(members)
        }

        private mutating func value() -> JSONValue {
            switch random.below(8) {
            case 0: .null
            case 1: .array([.int(1), .string("x")])
            case 2: .object(["x": .int(1)])
            default: literal().1
            }
        }

        private mutating func point() -> JSONValue {
            .point(Double(random.below(6)), Double(random.below(6)))
        }
    }

    static let seeds: [UInt64] = Array(1...6)

    @Test(arguments: seeds)
    func `Features are those for which the filter is true`(_ seed: UInt64) async throws {
        var generator = Generator(random: SplitMix64(seed: seed))
        let objects = (0..<60).map { generator.object($0) }
        let expressions = (0..<80).map { _ in generator.expression(4) }
        try await TestSite.with("mixed", objects.map(\.text)) { site, _ in
            for expression in expressions {
                let expected = objects.filter { expression.truth($0) == true }
                    .map { $0["_id"]!.string! }
                let target =
                    "/ogc/collections/mixed/items?limit=7&filter=\(percentEncoded(expression.text))"
                let found = try await site.ids(target)
                #expect(found == expected, "seed \(seed): \(expression.text)")
            }
        }
    }
}
