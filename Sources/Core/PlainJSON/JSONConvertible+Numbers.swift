extension JSONConvertible where Self: FixedWidthInteger {
    /// A number with exactly this type's value: `3.0` is 3, and 3.5 or 300 is no `Int8`.
    ///
    /// - Throws: `JSONMismatch` for anything but a number, and for one that does not fit.
    public init(jsonValue: JSONValue) throws {
        let exact: Self? =
            switch jsonValue {
            case .number(.integer(let value)): Self(exactly: value)
            case .number(.unsigned(let value)): Self(exactly: value)
            case .number(.decimal(let value)): Self(exactly: value)
            case .digits(let digits): digits.exactly()
            default: throw JSONMismatch.expected("a number", found: jsonValue)
            }
        guard let exact else {
            let text = (try? jsonValue.jsonValue.text) ?? "\(jsonValue.double ?? .nan)"
            throw JSONMismatch("\(text) does not fit \(Self.self)")
        }
        self = exact
    }

    /// The number with all its digits.
    public var jsonValue: JSONValue {
        if let value = Int64(exactly: self) { return .number(.integer(value)) }
        return .number(.unsigned(UInt64(self)))
    }
}

extension Int: JSONConvertible {}
extension Int8: JSONConvertible {}
extension Int16: JSONConvertible {}
extension Int32: JSONConvertible {}
extension Int64: JSONConvertible {}
extension UInt: JSONConvertible {}
extension UInt8: JSONConvertible {}
extension UInt16: JSONConvertible {}
extension UInt32: JSONConvertible {}
extension UInt64: JSONConvertible {}

extension Double: JSONConvertible {
    /// The nearest binary64 to a number.
    ///
    /// - Throws: `JSONMismatch` for anything but a number.
    public init(jsonValue: JSONValue) throws {
        guard let number = jsonValue.number else {
            throw JSONMismatch.expected("a number", found: jsonValue)
        }
        self = number.double
    }

    /// The number, which keeps its value.
    ///
    /// - Throws: `JSONMismatch` for NaN and infinities.
    public var jsonValue: JSONValue {
        get throws {
            guard isFinite else { throw JSONMismatch("\(self) has no JSON spelling") }
            return .double(self)
        }
    }
}

extension Float: JSONConvertible {
    /// The nearest binary32.
    public init(jsonValue: JSONValue) throws {
        let double = try Double(jsonValue: jsonValue)
        self = Float(double)
        guard isFinite else { throw JSONMismatch("\(double) does not fit Float") }
    }

    /// The number with the same shortest spelling: 0.1, not 0.10000000149011612.
    public var jsonValue: JSONValue {
        get throws {
            guard isFinite else { throw JSONMismatch("\(self) has no JSON spelling") }
            return .double(Double(description)!)
        }
    }
}
