import Objects

/// The name of a collection in the paths of the web port: a bucket, and one of its geo fields.
///
///     try CollectionName("users~alice~notes@place")   // place of users/alice/notes
///     try CollectionName("airports").field            // nil: the bucket's place
///
/// `~` stands for the `/` of a bucket's name, which contains neither `~` nor `@`. What follows the
/// first `@` is the path of the field, as it is.
public struct CollectionName: Sendable, Hashable {
    /// The bucket.
    public let bucket: BucketName
    /// The field whose places are meant; nil means the bucket's place.
    public let field: FieldPath?

    /// A collection by its parts.
    public init(_ bucket: BucketName, field: FieldPath? = nil) {
        (self.bucket, self.field) = (bucket, field)
    }

    /// A collection by its name, decoded.
    ///
    /// - Parameter path: the parameter of the address that the name is, for the failure.
    /// - Throws: `INVALID_BUCKET` for a bucket's name that is not valid, and `INVALID_INPUT_DATA`
    ///   for an empty field.
    public init(_ text: String, at path: String = "collection") throws(WebFailure) {
        // By bytes: a field's path may begin with a mark that would be one character with the "@".
        let parts = text.utf8.split(
            separator: UInt8(ascii: "@"), maxSplits: 1, omittingEmptySubsequences: false)
        guard !parts[0].contains(UInt8(ascii: "/")) else {
            throw WebFailure(
                .badRequest, "INVALID_BUCKET",
                "\(quoted(text)) is no collection: \"~\" stands for the \"/\" of a bucket's name",
                at: path)
        }
        do throws(ServiceFailure) {
            bucket = try BucketName(
                String(Substring(parts[0]).replacing("~", with: "/")), at: path)
        } catch {
            throw WebFailure(error)
        }
        if parts.count == 2, parts[1].isEmpty {
            throw .invalid("expected the path of a field behind \"@\"", at: path)
        }
        field = parts.count == 2 ? FieldPath(String(Substring(parts[1]))) : nil
    }

    /// The name; `init(_:at:)` reads it.
    public var text: String {
        bucket.text.replacing("/", with: "~") + (field.map { "@" + $0.text } ?? "")
    }
}
