import PlainJSON

/// An object's `_id`: 2...100 of the characters `a-z A-Z 0-9 - _ .`, unique within its bucket.
public struct ObjectID: Sendable, Hashable, Comparable {
    /// The id as clients write it.
    public let text: String

    /// An id from a client.
    ///
    /// - Parameter path: where in the request the id is, for the failure.
    /// - Throws: `INVALID_OBJECT_ID`.
    public init(_ text: String, at path: String) throws(ServiceFailure) {
        guard Self.isValid(text) else {
            throw ServiceFailure(
                .invalidObjectID,
                "\(quoted(text)) is no object id: 2 to 100 of a-z, A-Z, 0-9, '-', '_' and '.'",
                at: path)
        }
        self.text = text
    }

    /// Whether a text is a valid id.
    public static func isValid(_ text: String) -> Bool { allows(all: text.utf8) }

    /// Whether UTF-8 is that of a valid id.
    public static func isValid(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool { allows(all: utf8) }

    private static func allows(all utf8: some Collection<UInt8>) -> Bool {
        (2...100).contains(utf8.count) && utf8.allSatisfy(allows)
    }

    /// An id that is known to be valid: one from the store, or a new UUID.
    public init(trusted text: String) { self.text = text }

    /// In the order of the bytes.
    public static func < (a: ObjectID, b: ObjectID) -> Bool {
        a.text.utf8.lexicographicallyPrecedes(b.text.utf8)
    }

    static func allows(_ unit: UInt8) -> Bool {
        isLetterOrDigit(unit) || unit == UInt8(ascii: "-") || unit == UInt8(ascii: "_")
            || unit == UInt8(ascii: ".")
    }
}

/// A bucket's full name: `shops`, or with a scope `users/alice/notes`.
///
/// The same last part may exist in every scope, independently.
public struct BucketName: Sendable, Hashable, Comparable {
    /// Names that no bucket may have, in any scope; so few that to compare them is quicker than to
    /// hash.
    public static let reserved = [
        "users", "groups", "devices", "installations", "internal", "things",
    ]

    /// The full name as clients write it.
    public let text: String

    /// A full name from a client.
    ///
    /// - Parameter path: where in the request the name is, for the failure.
    /// - Throws: `INVALID_BUCKET` for a name or scope that is not valid, and for a reserved name.
    public init(_ text: String, at path: String = "bucket") throws(ServiceFailure) {
        guard text.utf8.contains(UInt8(ascii: "/")) else {
            try Self.checkName(text, at: path)
            self.text = text
            return
        }
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 3 else {
            throw ServiceFailure(
                .invalidBucket,
                "\(quoted(text)) is no bucket: expected a name, or users/, groups/ or things/ "
                    + "with an owner and a name",
                at: path)
        }
        _ = try BucketScope(String(parts[0])! + "/" + String(parts[1])!, at: path)
        try Self.checkName(String(parts[2])!, at: path)
        self.text = text
    }

    /// A name that is known to be valid.
    public init(trusted text: String) { self.text = text }

    /// The scope before the last part; the application's own if there is none.
    public var scope: BucketScope {
        guard let slash = text.utf8.lastIndex(of: UInt8(ascii: "/")) else { return .application }
        return BucketScope(trusted: String(text.utf8[..<slash])!)
    }

    /// In the order of the bytes.
    public static func < (a: BucketName, b: BucketName) -> Bool {
        a.text.utf8.lexicographicallyPrecedes(b.text.utf8)
    }

    private static func checkName(_ name: String, at path: String) throws(ServiceFailure) {
        let units = name.utf8
        guard (2...64).contains(units.count), isLetterOrDigit(units.first!),
            units.allSatisfy({
                isLetterOrDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
            })
        else {
            throw ServiceFailure(
                .invalidBucket,
                "\(quoted(name)) is no bucket name: 2 to 64 of a-z, A-Z, 0-9, '-' and '_', "
                    + "the first a letter or digit",
                at: path)
        }
        guard !reserved.contains(name) else {
            throw ServiceFailure(.invalidBucket, "\"\(name)\" is a reserved name", at: path)
        }
    }
}

/// Whose buckets: the application's own, or those of one user, group or thing (`users/alice`).
public struct BucketScope: Sendable, Hashable {
    /// Empty for the application's own scope.
    public let text: String

    /// The application's own scope, whose buckets have names without a slash.
    public static let application = BucketScope(trusted: "")

    /// The scope of an owner: `users/`, `groups/` or `things/` and an id.
    ///
    /// - Parameter path: where in the request the scope is, for the failure.
    /// - Throws: `INVALID_BUCKET`.
    public init(_ text: String, at path: String) throws(ServiceFailure) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, ["users", "groups", "things"].contains(parts[0]) else {
            throw ServiceFailure(
                .invalidBucket,
                "\(quoted(text)) is no scope: expected users/, groups/ or things/ and an owner",
                at: path)
        }
        let owner = parts[1].utf8
        guard (1...100).contains(owner.count), owner.allSatisfy(ObjectID.allows),
            parts[1] != ".", parts[1] != ".."
        else {
            throw ServiceFailure(
                .invalidBucket,
                "\(quoted(String(parts[1]))) is no owner of buckets: 1 to 100 of a-z, A-Z, 0-9, "
                    + "'-', '_' and '.'",
                at: path)
        }
        self.text = text
    }

    init(trusted text: String) { self.text = text }
}

func isLetterOrDigit(_ unit: UInt8) -> Bool {
    switch unit {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
    default: false
    }
}

/// A client's name for the path of an error: cut if it is long.
public func shortened(_ name: String, limit: Int = 200) -> String {
    name.utf8.count <= limit ? name : String(name.unicodeScalars.prefix(limit)) + "…"
}

/// A client's text for an error message: quoted, and cut if it is long.
public func quoted(_ text: String, limit: Int = 60) -> String {
    var writer = JSONWriter()
    if text.utf8.count <= limit {
        writer.string(text)
    } else {
        writer.string(String(text.unicodeScalars.prefix(limit)) + "…")
    }
    return String(decoding: writer.bytes, as: UTF8.self)
}

/// A number of things: `1 object`, `2 objects`.
public func counted(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
}
