import JSONText
import Objects

/// A client's document after validation: the text to store, and its GeoPoints.
public struct WrittenDocument: Sendable {
    /// Minified JSON object without predefined fields, everything else spelled as it came.
    public let text: [UInt8]
    /// Those of one path follow each other.
    public let points: [FieldPoint]

    /// Validates a document by the rules for objects.
    ///
    /// - Parameters:
    ///   - value: the document; must be a JSON object.
    ///   - path: its path in the request, such as `object` or `objects[3]`.
    /// - Throws: `INVALID_INPUT_DATA` with the path of the member at fault, `OBJECT_TOO_LARGE`.
    public init(
        _ value: JSONView, at path: String, limits: Limits
    ) throws(ServiceFailure) {
        guard value.kind == .object else {
            throw ServiceFailure(.invalidInputData, "expected a JSON object", at: path)
        }
        try WrittenName.check(value, at: path)
        for member in value.members where WrittenName(member.name) == .user {
            try ServiceFailure.inside(
                "\(path).\(shortened(String(decoding: member.name, as: UTF8.self)))",
                try Self.check(member.value, depth: limits.objectDepth))
        }
        text = Self.userText(value)
        if let excess = limits.documentSize.excess(of: text) {
            throw ServiceFailure(.objectTooLarge, excess, at: path)
        }
        points = FieldPoint.all(in: value, atMost: limits.geoFields + 1)
        try Self.check(points, limits, at: path)
    }

    /// A document that the service has composed of validated parts.
    public init(text: [UInt8], points: [FieldPoint]) {
        self.text = text
        self.points = points
    }

    /// Refuses points at more field paths than a bucket may have, and arrays with too many points.
    private static func check(
        _ points: [FieldPoint], _ limits: Limits, at path: String
    ) throws(ServiceFailure) {
        guard points.count > min(limits.geoFields, limits.arrayPoints) else { return }
        var fields = 0
        try FieldPoint.forEachField(of: points) { field, points throws(ServiceFailure) in
            fields += 1
            func refusal(_ message: String) -> ServiceFailure {
                ServiceFailure(
                    .invalidInputData, message, at: "\(path).\(shortened(field.text))")
            }
            guard points.count <= limits.arrayPoints else {
                throw refusal(
                    "the array has \(points.count) GeoPoints, at most \(limits.arrayPoints) are "
                        + "allowed")
            }
            guard fields <= limits.geoFields else {
                throw refusal(
                    "the object has GeoPoints at more than \(limits.geoFields) field paths, as many "
                        + "as a bucket may have")
            }
        }
    }

    /// Refuses a member that makes its object too deep, even one that a later duplicate hides,
    /// because all of it is stored; then what `check` refuses.
    private static func check(_ member: JSONView, depth limit: Int) throws(ServiceFailure) {
        let depth = 1 + member.depth
        guard depth <= limit else {
            throw ServiceFailure(
                .invalidInputData,
                "with this member the object is nested \(depth) levels deep, at most \(limit) are allowed"
            )
        }
        try check(member)
    }

    /// Refuses numbers beyond binary64 and malformed GeoPoints, at any depth.
    ///
    /// - Complexity: O(values), faults of hidden members included.
    private static func check(_ value: JSONView) throws(ServiceFailure) {
        switch value.kind {
        case .huge:
            let text = String(decoding: value.text.prefix(1_000), as: UTF8.self)
            throw ServiceFailure(
                .invalidInputData, "\(quoted(text)) is outside the range of numbers")
        case .object:
            if GeoPoint.isClaimed(by: value) { _ = try GeoPoint.validate(value) }
            var hidden: Set<Int>?
            for (position, member) in zip(0..., value.members) {
                do throws(ServiceFailure) {
                    try check(member.value)
                } catch {
                    // The last of duplicates counts; what it hides may be anything.
                    if hidden == nil { hidden = value.hiddenMembers() }
                    guard hidden!.contains(position) else {
                        throw error.inside(
                            shortened(String(decoding: member.name, as: UTF8.self)))
                    }
                }
            }
        case .array:
            for (index, element) in zip(0..., value.elements) {
                try ServiceFailure.inside("[\(index)]", try check(element))
            }
        case .null, .bool, .number, .string: break
        }
    }

    /// The minified text of an object without the dropped names.
    private static func userText(_ object: JSONView) -> [UInt8] {
        guard object.members.contains(where: { WrittenName($0.name) != .user }) else {
            return minifiedJSON(object.text)
        }
        var writer = JSONWriter(reserving: object.text.count)
        writer.byte(UInt8(ascii: "{"))
        var first = true
        for member in object.members where WrittenName(member.name) == .user {
            if !first { writer.byte(UInt8(ascii: ",")) }
            first = false
            writer.raw(member.text)
        }
        writer.byte(UInt8(ascii: "}"))
        return writer.bytes.withUnsafeBufferPointer(minifiedJSON)
    }
}
