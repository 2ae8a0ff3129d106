import Objects
import PlainJSON

// Properties and values of CQL2.

extension TextParser {
    mutating func operand() throws(FilterSyntaxError) -> TextOperand {
        if let value = try call() { return value }
        switch token.kind {
        case .name(let name):
            return .field(TextField(path: try property(name)))
        case .string(let text):
            at += 1
            return .literal(.string(text.withoutEscapes))
        case .number(let number):
            at += 1
            return .literal(.number(number))
        case .word(let word):
            if let constant = dialect.constants[token.name!] {
                at += 1
                return .literal(.bool(constant))
            }
            guard token.name != dialect.null else {
                throw fault("expected a value; \"IS NULL\" finds what is missing")
            }
            try refuseReserved(word)
            if isCall { throw fault("there is no function \(quoted(word)) here") }
            return .field(TextField(path: try property(word)))
        default: throw expected("a property or a value")
        }
    }

    private mutating func property(_ name: String) throws(FilterSyntaxError) -> FieldPath {
        guard !name.isEmpty else { throw fault("expected the name of a property") }
        return try field(named: name)
    }

    /// A property's name, where nothing else can stand.
    mutating func property() throws(FilterSyntaxError) -> FieldPath? {
        switch token.kind {
        case .name(let name): try property(name)
        case .word(let word) where !isCall && !dialect.isReserved(token.name): try property(word)
        default: nil
        }
    }

    mutating func value(beside field: FieldPath) throws(FilterSyntaxError) -> ComparedValue {
        let position = token.position
        let isSetByService = ["_created", "_modified", "_expiresAt"].contains(field.text)
        switch try operand() {
        case .field:
            throw fault("expected a value; two properties cannot be compared", at: position)
        case .time(let time): return isSetByService ? .time(time) : .timeText(time)
        case .literal(.string(let utf8)) where isSetByService:
            let text = String(decoding: utf8, as: UTF8.self)
            return TimeSpan(text).map { .time($0) } ?? .literal(.string(utf8))
        case .literal(let literal): return .literal(literal)
        }
    }

    /// The text of a time, what is behind `DATE(` or `TIMESTAMP(`.
    mutating func time(
        _ read: (String) -> TimeSpan?, _ example: String
    ) throws(FilterSyntaxError) -> TimeSpan {
        guard case .string(let text) = token.kind, let time = read(text) else {
            throw expected("a time such as '\(example)'")
        }
        at += 1
        try pass(")")
        return time
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
