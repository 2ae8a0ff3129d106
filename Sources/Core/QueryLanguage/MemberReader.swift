import Objects
import PlainJSON

/// Reads the members of one JSON object of a request one by one; members that remain at the end are
/// refused by name. The paths of its failures begin at the object: see `ServiceFailure.inside`.
///
///     var members = try MemberReader(view)
///     let field = try members.string("field")
///     try members.finish(as: "an \"eq\" clause")
public struct MemberReader {
    private let object: JSONView?
    /// The members that were read, a bit for each of the first 64.
    private var taken: UInt64 = 0

    /// - Throws: for a value that is not a JSON object.
    public init(_ view: JSONView) throws(ServiceFailure) {
        guard view.kind == .object else {
            throw ServiceFailure(.invalidInputData, "expected a JSON object")
        }
        object = view
    }

    /// The params of a request; nil means an empty object.
    public init(params: JSONView?) { object = params }

    /// A failure of one of the members.
    public func failure(_ name: StaticString, _ message: String) -> ServiceFailure {
        ServiceFailure(.invalidInputData, message, at: name.description)
    }

    /// Reads a member of any kind, the last of duplicates; nil if there is none. O(members).
    public mutating func optional(_ name: StaticString) -> JSONView? {
        guard let object else { return nil }
        var found: JSONView?
        for (index, member) in zip(0..., object.members)
        where member.name.elementsEqualBytes(name) {
            taken |= 1 << index
            found = member.value  // of duplicates the last
        }
        return found
    }

    /// Reads a member of any kind that has to be there.
    ///
    /// - Parameter expected: what it has to be, with its article, for the failure.
    public mutating func required(
        _ name: StaticString, _ expected: String
    ) throws(ServiceFailure) -> JSONView {
        guard let value = optional(name) else {
            throw failure(name, "\"\(name)\" is missing; expected \(expected)")
        }
        return value
    }

    /// Reads a string that has to be there, as UTF-8 with its escapes resolved.
    public mutating func utf8(_ name: StaticString) throws(ServiceFailure) -> [UInt8] {
        Array(try text(name))
    }

    /// Reads a string, nil if the member is missing; throws for another kind, null too.
    public mutating func optionalString(_ name: StaticString) throws(ServiceFailure) -> String? {
        try optionalText(name).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Reads a string that has to be there.
    public mutating func string(_ name: StaticString) throws(ServiceFailure) -> String {
        String(decoding: try text(name), as: UTF8.self)
    }

    private mutating func text(
        _ name: StaticString
    ) throws(ServiceFailure) -> UnsafeBufferPointer<UInt8> {
        guard let text = try optionalText(name) else {
            throw failure(name, "\"\(name)\" is missing; expected a string")
        }
        return text
    }

    private mutating func optionalText(
        _ name: StaticString
    ) throws(ServiceFailure) -> UnsafeBufferPointer<UInt8>? {
        guard let value = optional(name) else { return nil }
        guard let utf8 = value.utf8 else { throw failure(name, "\"\(name)\": expected a string") }
        return utf8
    }

    /// Reads a boolean, nil if the member is missing; throws for another kind, null too.
    public mutating func optionalBool(_ name: StaticString) throws(ServiceFailure) -> Bool? {
        guard let value = optional(name) else { return nil }
        guard let bool = value.bool else {
            throw failure(name, "\"\(name)\": expected true or false")
        }
        return bool
    }

    /// A whole number in a range, `5` or `5.0`.
    public mutating func optionalInt(
        _ name: StaticString, in range: ClosedRange<Int>
    ) throws(ServiceFailure) -> Int? {
        guard let value = optional(name) else { return nil }
        guard let int = value.number?.exactInt, range.contains(int) else {
            let bound = range.upperBound == .max ? "" : " and at most \(range.upperBound)"
            throw failure(
                name, "\"\(name)\": expected a whole number, at least \(range.lowerBound)\(bound)")
        }
        return int
    }

    /// Reads an array that has to be there.
    ///
    /// - Parameter expected: what it has to be, with its article, for the failure.
    public mutating func array(
        _ name: StaticString, _ expected: String
    ) throws(ServiceFailure) -> JSONView {
        let value = try required(name, expected)
        guard value.kind == .array else {
            throw failure(name, "\"\(name)\": expected \(expected)")
        }
        return value
    }

    /// Refuses the first member that was not read; there are never 64 members to read.
    public func finish(as what: @autoclosure () -> String) throws(ServiceFailure) {
        guard let object, object.count > 64 || taken != (1 << object.count) &- 1 else { return }
        for (index, member) in zip(0..., object.members) where taken & 1 << index == 0 {
            let text = String(decoding: member.name, as: UTF8.self)
            throw ServiceFailure(
                .invalidInputData, "\(what()) has no member \(quoted(text))",
                at: shortened(text))
        }
    }
}
