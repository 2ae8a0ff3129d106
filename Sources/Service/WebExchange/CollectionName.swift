import Objects

/// A bucket and a geo field of it, as the paths of maps and features name them.
public struct CollectionName: Sendable, Hashable {
    /// The bucket.
    public let bucket: BucketName
    /// The geo field; nil is the first of the bucket.
    public let field: FieldPath?

    /// A bucket with a geo field; nil is the first of the bucket.
    public init(bucket: BucketName, field: FieldPath? = nil) {
        (self.bucket, self.field) = (bucket, field)
    }

    /// A name from a path.
    public init(_ text: String) throws(ServiceFailure) {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        bucket = try BucketName(String(parts[0].replacing("~", with: "/")), at: "collection")
        field = parts.count == 2 ? FieldPath(String(parts[1])) : nil
    }

    /// The name as a path has it, not percent-encoded.
    public var text: String {
        bucket.text.replacing("/", with: "~") + (field.map { "@\($0.text)" } ?? "")
    }
}
