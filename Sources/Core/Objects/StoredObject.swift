import PlainJSON

/// What the service knows of an object besides its document.
public struct ObjectMetadata: Sendable, Hashable {
    /// The object's `_id`.
    public var id: ObjectID
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public var created: Int64
    /// Milliseconds since 1970-01-01T00:00:00Z; never before an earlier one of the same object.
    public var modified: Int64
    /// 1 at creation, one more for each change.
    public var version: Int64
    /// `_owner`: the principal whose token created the object; nil if there was no token.
    public var owner: String?
    /// `_dataType`: at most `Limits.dataTypeBytes` bytes; nil if the object has none.
    public var dataType: String?
    /// Milliseconds since 1970-01-01T00:00:00Z at which the object expires; nil if it does not.
    public var expires: Int64?

    /// Metadata of an object of which everything is known; times are milliseconds since 1970.
    public init(
        id: ObjectID, created: Int64, modified: Int64, version: Int64, owner: String? = nil,
        dataType: String? = nil, expires: Int64? = nil
    ) {
        self.id = id
        self.created = created
        self.modified = modified
        self.version = version
        self.owner = owner
        self.dataType = dataType
        self.expires = expires
    }

    /// The predefined fields of an object as clients read it; nil if a mandatory one is missing.
    public init?(_ object: JSONView) {
        let number = { object[$0]?.number?.exactInt.map(Int64.init) }
        guard let id = object["_id"]?.string, let created = number("_created"),
            let modified = number("_modified"), let version = number("_version")
        else { return nil }
        self.init(
            id: ObjectID(trusted: id), created: created, modified: modified, version: version,
            owner: object["_owner"]?.string, dataType: object["_dataType"]?.string,
            expires: number("_expiresAt"))
    }

    /// Appends id, times and version as members of an object: the answer to a write.
    public func write(to writer: inout JSONWriter) {
        writer.key("_id")
        writer.string(id.text)
        writer.key("_created")
        writer.integer(created)
        writer.key("_modified")
        writer.integer(modified)
        writer.key("_version")
        writer.integer(version)
    }

    /// The whole object as clients read it: the predefined fields, then the document's own.
    ///
    /// - Parameter text: the stored document, a minified JSON object.
    public func document(around text: [UInt8]) -> [UInt8] { written(around: text).bytes }

    /// As `document`, but into a writer.
    public func written(around text: [UInt8]) -> JSONWriter {
        var writer = JSONWriter(reserving: text.count + 160)
        writer.byte(UInt8(ascii: "{"))
        write(to: &writer)
        if let owner {
            writer.key("_owner")
            writer.string(owner)
        }
        if let dataType {
            writer.key("_dataType")
            writer.string(dataType)
        }
        if let expires {
            writer.key("_expiresAt")
            writer.integer(expires)
        }
        if text.count > 2 { writer.byte(UInt8(ascii: ",")) }
        text.withUnsafeBufferPointer { writer.raw(UnsafeBufferPointer(rebasing: $0.dropFirst())) }
        return writer
    }
}
