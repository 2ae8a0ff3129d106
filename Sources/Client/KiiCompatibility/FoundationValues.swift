import Foundation
import GeoBucketClient

extension JSONValue {
    /// The JSON of a value of Foundation's types: NSString, NSNumber, NSNull, NSArray,
    /// NSDictionary, or the corresponding Swift types, at any depth.
    ///
    /// An `NSNumber` that was made of a Bool is a boolean; one made of a number never is.
    ///
    /// - Throws: `JSONMismatch` with the path of a nil, or of a value that JSON cannot hold.
    public init(foundation value: Any) throws {
        try JSONMismatch.refuseNil(value)
        switch value {
        case let value as NSDecimalNumber: self = try value.decimalValue.jsonValue
        case let value as any JSONConvertible: self = try value.jsonValue
        case is NSNull: self = .null
        case let value as NSNumber: self = try Self.number(value)
        case let value as NSString: self = .string(value as String)
        case let value as NSDate: self = try (value as Date).jsonValue
        case let value as NSData: self = (value as Data).jsonValue
        case let value as NSURL: self = (value as URL).jsonValue
        case let value as NSUUID: self = (value as UUID).jsonValue
        case let value as [String: Any]:
            self = .object(
                try value.sorted { $0.key < $1.key }.map { name, value in
                    Member(name, try JSONMismatch.inside(name) { try Self(foundation: value) })
                })
        case let value as [Any]:
            self = .array(
                try value.enumerated().map { index, value in
                    try JSONMismatch.inside("[\(index)]") { try Self(foundation: value) }
                })
        default: throw JSONMismatch("JSON has nothing like \(type(of: value))")
        }
    }

    private static func number(_ number: NSNumber) throws -> JSONValue {
        // Foundation keeps one object each for true and false.
        if number === NSNumber(value: true) { return .bool(true) }
        if number === NSNumber(value: false) { return .bool(false) }
        switch String(cString: number.objCType) {
        case "d": return try number.doubleValue.jsonValue
        case "f": return try number.floatValue.jsonValue
        case "Q": return number.uint64Value.jsonValue
        default: return number.int64Value.jsonValue
        }
    }

    /// The value as a type of Foundation, for casting: `NSString`, `NSNumber`, `NSArray`,
    /// `NSDictionary` or `NSNull`; a number with more digits than an `NSNumber` keeps is an
    /// `NSDecimalNumber`.
    public var foundation: Any {
        switch self {
        case .null: NSNull()
        case .bool(let bool): NSNumber(value: bool)
        case .number(.integer(let integer)): NSNumber(value: integer)
        case .number(.unsigned(let integer)): NSNumber(value: integer)
        case .number(.decimal(let decimal)): NSNumber(value: decimal)
        case .digits(let digits):
            decimal.map(NSDecimalNumber.init(decimal:)) ?? NSNumber(value: digits.nearest)
        case .string(let text): NSString(string: text)
        case .array(let elements): NSArray(array: elements.map(\.foundation))
        case .object(let members): NSDictionary(dictionary: Self.foundation(members))
        }
    }

    /// Members by name; the last of duplicates wins.
    fileprivate static func foundation(_ members: [Member]) -> [String: Any] {
        .init(members.map { ($0.name, $0.value.foundation) }) { _, last in last }
    }
}

extension CGFloat: JSONConvertible {
    /// The nearest value to a number.
    ///
    /// - Throws: `JSONMismatch` for anything but a number.
    public init(jsonValue: JSONValue) throws { self.init(try Double(jsonValue: jsonValue)) }

    /// The number.
    ///
    /// - Throws: `JSONMismatch` if it is not finite.
    public var jsonValue: JSONValue { get throws { try Double(self).jsonValue } }
}

extension GeoObject {
    /// Every field by name, predefined ones included, as types of Foundation.
    public func dictionaryValue() -> [String: Any] { JSONValue.foundation(document.members) }

    /// A field's value, for casting: nil if it is missing, `NSNull` if it is JSON's null.
    public func getForKey(_ key: String) -> Any? { self[key]?.foundation }

    /// Sets a field locally; `save` sends it.
    ///
    /// - Returns: false, without a change, for nil, for names that begin with `_`, and for values
    ///   that JSON cannot hold.
    @_disfavoredOverload
    @discardableResult
    public func setObject(_ object: Any?, forKey key: String) -> Bool {
        guard let object, let value = try? JSONValue(foundation: object) else { return false }
        return setObject(value, forKey: key)
    }
}

extension Clause {
    /// `equals` with a value of Foundation's types; nil, or a value that JSON cannot hold, is refused
    /// by the service when the query runs.
    @_disfavoredOverload
    public static func equals(_ key: String, value: Any) -> Clause {
        equals(key, value: operand(value))
    }

    /// `notEquals` with a value of Foundation's types; it does not find objects without the field.
    @_disfavoredOverload
    public static func notEquals(_ key: String, value: Any) -> Clause {
        notEquals(key, value: operand(value))
    }

    /// `greaterThan` with a number or a string of Foundation's types.
    @_disfavoredOverload
    public static func greaterThan(_ key: String, value: Any) -> Clause {
        greaterThan(key, value: operand(value))
    }

    /// `greaterThanOrEqual` with a number or a string of Foundation's types.
    @_disfavoredOverload
    public static func greaterThanOrEqual(_ key: String, value: Any) -> Clause {
        greaterThanOrEqual(key, value: operand(value))
    }

    /// `lessThan` with a number or a string of Foundation's types.
    @_disfavoredOverload
    public static func lessThan(_ key: String, value: Any) -> Clause {
        lessThan(key, value: operand(value))
    }

    /// `lessThanOrEqual` with a number or a string of Foundation's types.
    @_disfavoredOverload
    public static func lessThanOrEqual(_ key: String, value: Any) -> Clause {
        lessThanOrEqual(key, value: operand(value))
    }

    /// `in` with up to 200 values of Foundation's types.
    @_disfavoredOverload
    public static func `in`(_ key: String, value: [Any]) -> Clause {
        `in`(key, value: value.map(operand))
    }

    /// The service refuses nil and a value that JSON cannot hold, as in the typed clauses.
    private static func operand(_ value: Any) -> JSONValue {
        (try? JSONValue(foundation: value)) ?? refused(value)
    }
}
