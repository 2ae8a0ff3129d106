import PlainJSON

// Nil is no value of a field or a clause. An optional converts to JSON's null, for models that have
// one; a nil that an app hands over by mistake must not become a null that is stored or asked for.

extension JSONValue {
    /// The JSON of a value that is not nil, whatever its static type.
    ///
    /// - Throws: `JSONMismatch` for nil, and for a value that JSON cannot hold.
    package init(nonNil value: some JSONConvertible) throws {
        try JSONMismatch.refuseNil(value)
        self = try value.jsonValue
    }
}

extension JSONMismatch {
    /// - Throws: if the value is nil, also in an `Any` or in an optional of an optional.
    package static func refuseNil(_ value: Any) throws {
        guard (value as? any Nilable)?.isNil != true else {
            throw JSONMismatch("nil is no value; JSON's null is JSONValue.null")
        }
    }
}

private protocol Nilable {
    var isNil: Bool { get }
}

extension Optional: Nilable {
    fileprivate var isNil: Bool {
        guard let self else { return true }
        return (self as? any Nilable)?.isNil == true
    }
}
