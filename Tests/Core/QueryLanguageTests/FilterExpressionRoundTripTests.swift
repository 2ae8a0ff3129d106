import Geodesy
import JSONText
import Objects
import QueryLanguage
import Testing

/// Generated clauses, spelled as expressions, parse back to themselves.
@Suite struct FilterExpressionRoundTripTests {
    @Test(
        "An expression spelled from a clause parses to that clause",
        arguments: 1...300 as ClosedRange<UInt64>)
    func roundTrip(_ seed: UInt64) throws {
        var random = SplitMix(state: seed)
        for _ in 0..<20 {
            let clause = Self.clause(depth: 4, &random)
            let text = Self.spelling(clause)
            #expect(try FilterExpression.parse(text) == clause, "seed \(seed): \(text)")
        }
    }

    private struct SplitMix: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }

    // MARK: Generation

    private static func clause(depth: Int, _ random: inout SplitMix) -> Clause {
        let kind =
            depth > 1
            ? Int.random(in: 0..<9, using: &random) : Int.random(in: 3..<9, using: &random)
        switch kind {
        case 0, 1:
            let clauses = (0..<Int.random(in: 2...3, using: &random)).map { _ in
                clause(depth: depth - 1, &random)
            }
            return kind == 0 ? .and(clauses) : .or(clauses)
        case 2: return .not(clause(depth: depth - 1, &random))
        default: return leaf(kind, FieldPath(string(&random)), &random)
        }
    }

    private static func leaf(_ kind: Int, _ field: FieldPath, _ random: inout SplitMix) -> Clause {
        switch kind {
        case 3: return .eq(field, literal(&random))
        case 4: return .contains(field, literal(&random))
        case 5: return .prefix(field, Array(string(&random).utf8))
        case 6: return .isIn(field, (0...2).map { _ in literal(&random) })
        case 7: return .hasField(field, nil)
        default:
            let limit = LiteralRange.Limit(
                JSONNumber.integer(.random(in: .min ... .max, using: &random)),
                included: .random(using: &random))
            let isLower = Bool.random(using: &random)
            return .range(
                field, .numbers(lower: isLower ? limit : nil, upper: isLower ? nil : limit))
        }
    }

    private static func literal(_ random: inout SplitMix) -> Literal {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: .null
        case 1: .bool(.random(using: &random))
        case 2: .number(.integer(.random(in: -9...9, using: &random)))
        case 3: .number(.decimal(.random(in: -1e9...1e9, using: &random)))
        case 4:
            .point(
                Coordinate(
                    latitude: .random(in: -90...90, using: &random),
                    longitude: .random(in: -180...180, using: &random)))
        default: .string(string(&random))
        }
    }

    /// Strings of what could be mistaken for syntax.
    private static func string(_ random: inout SplitMix) -> String {
        let parts = [
            "and", " ", "'", "\"", "`", "\\", "(", ",", "5", "日", "\n", "=", "x", ".", "é", "null",
        ]
        return (0..<Int.random(in: 0...4, using: &random))
            .map { _ in parts.randomElement(using: &random)! }.joined()
    }

    // MARK: Spelling

    private static func spelling(_ clause: Clause) -> String {
        switch clause {
        case .and(let clauses): clauses.map { "(\(spelling($0)))" }.joined(separator: " and ")
        case .or(let clauses): clauses.map { "(\(spelling($0)))" }.joined(separator: "OR")
        case .not(let inner): "not(\(spelling(inner)))"
        case .eq(let field, let literal): "\(name(field))=\(spelling(literal))"
        case .contains(let field, let literal): "\(name(field)) ~ \(spelling(literal))"
        case .prefix(let field, let utf8): "\(name(field))^=\(quoted(utf8, "'"))"
        case .isIn(let field, let literals):
            "\(name(field))in[\(literals.map { spelling($0) }.joined(separator: ","))]"
        case .hasField(let field, _): "\(name(field)) exists"
        case .range(let field, .numbers(let lower?, _)):
            "\(name(field)) >\(lower.included ? "=" : "") \(Literal.number(lower.value))"
        case .range(let field, .numbers(_, let upper?)):
            "\(name(field)) <\(upper.included ? "=" : "") \(Literal.number(upper.value))"
        default: "a clause that is not generated"
        }
    }

    private static func spelling(_ literal: Literal) -> String {
        switch literal {
        case .string(let utf8): quoted(utf8, "\"")
        case .point(let position): "point(\(position.latitude),\(position.longitude))"
        default: literal.description
        }
    }

    private static func name(_ field: FieldPath) -> String { quoted(field.utf8, "`") }

    private static func quoted(_ utf8: [UInt8], _ quote: Unicode.Scalar) -> String {
        var result = String(quote)
        for scalar in String(decoding: utf8, as: UTF8.self).unicodeScalars {
            if scalar == quote || scalar == "\\" { result += "\\" }
            result.unicodeScalars.append(scalar)
        }
        return result + String(quote)
    }
}
