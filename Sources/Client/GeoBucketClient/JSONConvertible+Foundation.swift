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

    /// Milliseconds since 1970, rounded to the nearest.
    ///
    /// - Throws: `JSONMismatch` for a date whose milliseconds do not fit 64 bits.
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
    /// A string that is a URL, relative ones included.
    ///
    /// - Throws: `JSONMismatch` for anything else.
    public init(jsonValue: JSONValue) throws {
        guard let url = URL(string: try String(jsonValue: jsonValue)) else {
            throw JSONMismatch("expected a URL, found \(jsonValue.text)")
        }
        self = url
    }

    /// A string; a relative URL is resolved against its base.
    public var jsonValue: JSONValue { .string(absoluteString) }
}

extension UUID: JSONConvertible {
    /// A string of 36 characters such as `E621E1F8-C36C-495A-93FC-0C247A3E6E5F`, in either case.
    ///
    /// - Throws: `JSONMismatch` for anything else.
    public init(jsonValue: JSONValue) throws {
        guard let id = UUID(uuidString: try String(jsonValue: jsonValue)) else {
            throw JSONMismatch("expected a UUID, found \(jsonValue.text)")
        }
        self = id
    }

    /// A string of 36 characters in upper case.
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

    /// A string: the bytes in base64.
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

    /// A whole number that fits `Int64`, also if it is written as `3.0`; nil for anything else.
    public var int64: Int64? { try? decode() }
    /// A number with all its digits, at most the 38 of a `Decimal`; nil for anything else.
    public var decimal: Decimal? { try? decode() }
    /// A GeoPoint that is in range; nil for anything else.
    public var geoPoint: GeoPoint? { try? decode() }

    /// A time in milliseconds since 1970.
    public var date: Date? { try? decode() }

    /// The members of an object by name; the last of duplicates wins.
    public var dictionary: [String: JSONValue]? { try? decode() }
}
