import PlainJSON

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Date: JSONConvertible {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public init(jsonValue: JSONValue) throws {
        self.init(timeIntervalSince1970: try Double(jsonValue: jsonValue) / 1_000)
    }

    public var jsonValue: JSONValue {
        get throws {
            let milliseconds = (timeIntervalSince1970 * 1_000).rounded()
            guard let whole = Int64(exactly: milliseconds) else {
                throw JSONMismatch("the date has no milliseconds in 64 bits")
            }
            return .number(.integer(whole))
        }
    }
}

extension URL: JSONConvertible {
    public init(jsonValue: JSONValue) throws {
        guard let url = URL(string: try String(jsonValue: jsonValue)) else {
            throw JSONMismatch("expected a URL, found \(jsonValue.text)")
        }
        self = url
    }

    public var jsonValue: JSONValue { .string(absoluteString) }
}

extension UUID: JSONConvertible {
    public init(jsonValue: JSONValue) throws {
        guard let id = UUID(uuidString: try String(jsonValue: jsonValue)) else {
            throw JSONMismatch("expected a UUID, found \(jsonValue.text)")
        }
        self = id
    }

    public var jsonValue: JSONValue { .string(uuidString) }
}

extension Data: JSONConvertible {
    /// Base64.
    public init(jsonValue: JSONValue) throws {
        guard let data = Data(base64Encoded: try String(jsonValue: jsonValue)) else {
            throw JSONMismatch("expected base64")
        }
        self = data
    }

    public var jsonValue: JSONValue { .string(base64EncodedString()) }
}

extension Decimal: JSONConvertible {
    /// The number with exactly its digits, at most the 38 that a `Decimal` has room for.
    public init(jsonValue: JSONValue) throws {
        guard let number = jsonValue.number else {
            throw JSONMismatch.expected("a number", found: jsonValue)
        }
        let text = try jsonValue.jsonValue.text
        guard let decimal = Decimal(string: text), let back = try? decimal.jsonValue,
            back.double == number.double, !jsonValue.isOfManyDigits || back == jsonValue
        else { throw JSONMismatch("\(text) does not fit Decimal") }
        self = decimal
    }

    /// The number with all its digits.
    public var jsonValue: JSONValue {
        get throws {
            guard !isNaN else { throw JSONMismatch("NaN has no JSON spelling") }
            return try JSONValue(parsing: description)
        }
    }
}

extension JSONValue {
    fileprivate var isOfManyDigits: Bool {
        if case .digits = self { return true }
        return false
    }

    /// The value as these types; nil for a value of any other type. Never crashes.
    public var int64: Int64? { try? decode() }
    public var decimal: Decimal? { try? decode() }
    public var geoPoint: GeoPoint? { try? decode() }

    /// A time in milliseconds since 1970.
    public var date: Date? { try? decode() }

    /// The members of an object by name; the last of duplicates wins.
    public var dictionary: [String: JSONValue]? { try? decode() }
}
