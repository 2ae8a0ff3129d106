/// A Swift type that converts to and from JSON without loss.
///
///     true.jsonValue                               // true, never 1
///     try Int8(jsonValue: .int(300))               // throws: 300 does not fit Int8
///
/// Numbers convert into any type that can hold their value: `3.0` is an `Int`, `1` a `Double`; a
/// boolean is no number and no number a boolean.
public protocol JSONConvertible {
    /// - Throws: `JSONMismatch`.
    init(jsonValue: JSONValue) throws

    /// - Throws: `JSONMismatch` for a value that JSON cannot hold, such as a number that is not
    ///   finite.
    var jsonValue: JSONValue { get throws }
}

/// Why a value is not what was expected, and where inside it: `childs[2]: expected a string, found
/// null`.
public struct JSONMismatch: Error, Sendable, Equatable, CustomStringConvertible {
    /// The path inside the value; empty for the value itself.
    public var path: String
    /// What was expected and what was found, without the path.
    public var message: String

    /// A mismatch of the value itself; `inside` adds the path on the way out.
    public init(_ message: String, at path: String = "") {
        self.message = message
        self.path = path
    }

    /// The mismatch of a kind: `expected a string, found null`.
    ///
    /// - Parameter what: the kind with its article, as `kindName` has it.
    public static func expected(_ what: String, found value: JSONValue) -> JSONMismatch {
        JSONMismatch("expected \(what), found \(value.kindName)")
    }

    public var description: String { path.isEmpty ? message : "\(path): \(message)" }

    /// Runs `body`, and prefixes the paths of its errors with `component`: a name, `[index]`, a
    /// path.
    public static func inside<Result>(
        _ component: @autoclosure () -> String, _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch var mismatch as JSONMismatch {
            let component = component()
            let isJoined =
                component.isEmpty || mismatch.path.isEmpty || mismatch.path.hasPrefix("[")
            mismatch.path = component + (isJoined ? "" : ".") + mismatch.path
            throw mismatch
        }
    }
}

extension JSONValue: JSONConvertible {
    /// The value itself; never throws.
    public init(jsonValue: JSONValue) { self = jsonValue }

    /// The value itself, if no number inside it is NaN or infinite.
    public var jsonValue: JSONValue {
        get throws {
            try checkNumbers()
            return self
        }
    }

    private func checkNumbers() throws {
        switch self {
        case .null, .bool, .string, .digits, .number(.integer), .number(.unsigned): break
        case .number(.decimal(let decimal)): _ = try decimal.jsonValue
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                try JSONMismatch.inside("[\(index)]") { try element.checkNumbers() }
            }
        case .object(let members):
            for member in members {
                try JSONMismatch.inside(member.name) { try member.value.checkNumbers() }
            }
        }
    }

    /// The value as another type.
    public func decode<Value: JSONConvertible>(_ type: Value.Type = Value.self) throws -> Value {
        try Value(jsonValue: self)
    }

    /// A member as another type; a member that is missing reads as null.
    ///
    /// - Throws: `JSONMismatch`, with the member's name.
    public func member<Value: JSONConvertible>(
        _ name: String, as type: Value.Type = Value.self
    ) throws -> Value {
        try JSONMismatch.inside(name) { try Value(jsonValue: self[name] ?? .null) }
    }
}

extension String: JSONConvertible {
    /// The text of a string.
    ///
    /// - Throws: `JSONMismatch` for anything but a string.
    public init(jsonValue: JSONValue) throws {
        guard let string = jsonValue.string else {
            throw JSONMismatch.expected("a string", found: jsonValue)
        }
        self = string
    }

    /// The text as a string; never throws.
    public var jsonValue: JSONValue { .string(self) }
}

extension Bool: JSONConvertible {
    /// The value of `true` or `false`.
    ///
    /// - Throws: `JSONMismatch` for anything but a boolean, numbers included.
    public init(jsonValue: JSONValue) throws {
        guard let bool = jsonValue.bool else {
            throw JSONMismatch.expected("a boolean", found: jsonValue)
        }
        self = bool
    }

    /// `true` or `false`; never throws.
    public var jsonValue: JSONValue { .bool(self) }
}

extension Optional: JSONConvertible where Wrapped: JSONConvertible {
    /// Nil for null, and otherwise the wrapped type's value.
    ///
    /// - Throws: `JSONMismatch` where the wrapped type does.
    public init(jsonValue: JSONValue) throws {
        self = jsonValue == .null ? nil : try Wrapped(jsonValue: jsonValue)
    }

    /// Null for nil.
    ///
    /// - Throws: `JSONMismatch` where the wrapped value does.
    public var jsonValue: JSONValue { get throws { try self?.jsonValue ?? .null } }
}

extension Array: JSONConvertible where Element: JSONConvertible {
    /// Every element of an array, in its order.
    ///
    /// - Throws: `JSONMismatch` for anything but an array, and with the index of an element that
    ///   does not match.
    public init(jsonValue: JSONValue) throws {
        guard let elements = jsonValue.array else {
            throw JSONMismatch.expected("an array", found: jsonValue)
        }
        self = try zip(0..., elements).map { index, element in
            try JSONMismatch.inside("[\(index)]") { try Element(jsonValue: element) }
        }
    }

    /// The elements as an array.
    ///
    /// - Throws: `JSONMismatch` with the index of an element that JSON cannot hold.
    public var jsonValue: JSONValue {
        get throws {
            .array(
                try zip(0..., self).map { index, element in
                    try JSONMismatch.inside("[\(index)]") { try element.jsonValue }
                })
        }
    }
}

extension Dictionary: JSONConvertible where Key == String, Value: JSONConvertible {
    /// The members of an object; the last of duplicates wins.
    ///
    /// - Throws: `JSONMismatch` for anything but an object, and with the name of a member that does
    ///   not match.
    public init(jsonValue: JSONValue) throws {
        guard case .object(let members) = jsonValue else {
            throw JSONMismatch.expected("an object", found: jsonValue)
        }
        self.init()
        for member in members {
            self[member.name] = try JSONMismatch.inside(member.name) {
                try Value(jsonValue: member.value)
            }
        }
    }

    /// Members in the order of their names.
    public var jsonValue: JSONValue {
        get throws {
            .object(
                try sorted { $0.key < $1.key }.map { name, value in
                    JSONValue.Member(
                        name, try JSONMismatch.inside(name) { try value.jsonValue })
                })
        }
    }
}
