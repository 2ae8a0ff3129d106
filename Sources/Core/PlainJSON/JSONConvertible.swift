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
    public var message: String

    public init(_ message: String, at path: String = "") {
        self.message = message
        self.path = path
    }

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
    public init(jsonValue: JSONValue) throws {
        guard let string = jsonValue.string else {
            throw JSONMismatch.expected("a string", found: jsonValue)
        }
        self = string
    }

    public var jsonValue: JSONValue { .string(self) }
}

extension Bool: JSONConvertible {
    public init(jsonValue: JSONValue) throws {
        guard let bool = jsonValue.bool else {
            throw JSONMismatch.expected("a boolean", found: jsonValue)
        }
        self = bool
    }

    public var jsonValue: JSONValue { .bool(self) }
}

extension Optional: JSONConvertible where Wrapped: JSONConvertible {
    public init(jsonValue: JSONValue) throws {
        self = jsonValue == .null ? nil : try Wrapped(jsonValue: jsonValue)
    }

    public var jsonValue: JSONValue { get throws { try self?.jsonValue ?? .null } }
}

extension Array: JSONConvertible where Element: JSONConvertible {
    public init(jsonValue: JSONValue) throws {
        guard let elements = jsonValue.array else {
            throw JSONMismatch.expected("an array", found: jsonValue)
        }
        self = try zip(0..., elements).map { index, element in
            try JSONMismatch.inside("[\(index)]") { try Element(jsonValue: element) }
        }
    }

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
