import JSONText
import Objects
import QueryLanguage

/// What stands on one side of a comparison.
enum CQL2Operand {
    case property(FieldPath)
    /// `CASEI(f)`
    case foldedProperty(FieldPath)
    case literal(Literal)
    case time(TimeSpan)
}

extension CQL2Parser {
    mutating func operand() throws(CQL2SyntaxError) -> CQL2Operand {
        switch token.kind {
        case .name(let name): return .property(try property(name))
        case .string(let text):
            at += 1
            return .literal(.string(text.withoutEscapes))
        case .number(let number):
            at += 1
            return .literal(.number(number))
        case .word(let word):
            switch token.keyword {
            case "TRUE", "FALSE":
                at += 1
                return .literal(.bool(word.uppercased() == "TRUE"))
            case "DATE" where isCall: return .time(try time(TimeSpan.init(date:), "2026-01-31"))
            case "TIMESTAMP" where isCall:
                return .time(try time(TimeSpan.init(timestamp:), "2026-01-31T12:00:00Z"))
            case "CASEI" where isCall: return try foldedOperand()
            case "NULL": throw fault("expected a value; \"IS NULL\" finds what is missing")
            case let keyword? where Self.keywords.contains(keyword):
                throw fault(
                    "\(quoted(word)) is a keyword; a property of that name stands in double quotes")
            case _ where isCall: throw fault("there is no function \(quoted(word)) here")
            default: return .property(try property(word))
            }
        default: throw expected("a property or a value")
        }
    }

    private static let keywords: Set = ["AND", "OR", "NOT", "LIKE", "BETWEEN", "IN", "IS"]

    private mutating func property(_ name: String) throws(CQL2SyntaxError) -> FieldPath {
        guard !name.isEmpty else { throw fault("expected the name of a property") }
        guard name != "_calculated", !name.hasPrefix("_calculated.") else {
            throw fault("\"_calculated\" cannot stand in a filter")
        }
        at += 1
        return FieldPath(name)
    }

    /// A property's name, where nothing else can stand.
    mutating func property() throws(CQL2SyntaxError) -> FieldPath? {
        switch token.kind {
        case .name(let name): return try property(name)
        case .word(let word) where !isCall && !Self.keywords.contains(word.uppercased()):
            return try property(word)
        default: return nil
        }
    }

    mutating func value(beside field: FieldPath) throws(CQL2SyntaxError) -> ComparedValue {
        let position = token.position
        let isSetByService = ["_created", "_modified", "_expiresAt"].contains(field.text)
        switch try operand() {
        case .property, .foldedProperty:
            throw CQL2SyntaxError(
                "expected a value; two properties cannot be compared", at: position)
        case .time(let time): return isSetByService ? .time(time) : .timeText(time)
        case .literal(.string(let utf8)) where isSetByService:
            let text = String(decoding: utf8, as: UTF8.self)
            return (TimeSpan(text)).map { .time($0) } ?? .literal(.string(utf8))
        case .literal(let literal): return .literal(literal)
        }
    }

    /// `DATE('…')` or `TIMESTAMP('…')`; the current token is the word.
    private mutating func time(
        _ read: (String) -> TimeSpan?, _ example: String
    ) throws(CQL2SyntaxError) -> TimeSpan {
        at += 2
        guard case .string(let text) = token.kind, let time = read(text) else {
            throw expected("a time such as '\(example)'")
        }
        at += 1
        guard take(mark: ")") else { throw expected("\")\"") }
        return time
    }
}

/// What a property is compared with.
enum ComparedValue {
    case literal(Literal)
    /// A time beside a property that holds milliseconds.
    case time(TimeSpan)
    /// A time beside a property that may hold times as text.
    case timeText(TimeSpan)

    func equality(_ field: FieldPath) -> Clause {
        switch self {
        case .literal(let literal): .eq(field, literal)
        case .time(let time): .range(field, time.range)
        case .timeText(let time): TimeText.clause(field, from: time, to: time)
        }
    }

    /// What a symbol says of a property on its left and this on its right; nil if the symbol asks for
    /// an order, and the value has none.
    func clause(_ field: FieldPath, _ symbol: String) -> Clause? {
        switch symbol {
        case "=": return equality(field)
        case "<>": return .not(equality(field))
        default: break
        }
        let (isLower, included) = (symbol.first == ">", symbol.count == 2)
        switch self {
        case .literal(.number(let number)):
            let limit = LiteralRange.Limit(number, included: included)
            return .range(
                field, .numbers(lower: isLower ? limit : nil, upper: isLower ? nil : limit))
        case .literal(.string(let utf8)):
            let limit = LiteralRange.Limit(utf8, included: included)
            return .range(
                field, .strings(lower: isLower ? limit : nil, upper: isLower ? nil : limit))
        case .literal: return nil
        case .time(let time):
            // Behind a day is behind its last millisecond.
            let end = isLower == included ? time.first : time.last
            let limit = LiteralRange.Limit(JSONNumber.integer(end), included: included)
            return .range(
                field, .numbers(lower: isLower ? limit : nil, upper: isLower ? nil : limit))
        case .timeText(let time):
            let start = isLower == included ? time.first : time.last + 1
            let from = TimeText.clause(field, from: start)
            return isLower ? from : .not(from)
        }
    }

    /// Between this and another, both included; nil if they are of different kinds or have no order.
    func clause(_ field: FieldPath, to upper: ComparedValue) -> Clause? {
        switch (self, upper) {
        case (.literal(.number(let a)), .literal(.number(let b))):
            .range(field, .numbers(lower: .init(a), upper: .init(b)))
        case (.literal(.string(let a)), .literal(.string(let b))):
            .range(field, .strings(lower: .init(a), upper: .init(b)))
        case (.time(let a), .time(let b)):
            .range(
                field,
                .numbers(lower: .init(.integer(a.first)), upper: .init(.integer(b.last))))
        case (.timeText(let a), .timeText(let b)): TimeText.clause(field, from: a, to: b)
        default: nil
        }
    }
}

extension String {
    /// A string's text as UTF-8: of two backslashes one is left.
    fileprivate var withoutEscapes: [UInt8] {
        var text: [UInt8] = []
        var rest = utf8[...]
        while let byte = rest.popFirst() {
            text.append(byte)
            if byte == UInt8(ascii: "\\"), rest.first == byte { rest.removeFirst() }
        }
        return text
    }
}
