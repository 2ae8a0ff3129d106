import JSONText
import Objects
import QueryLanguage

/// What a node lets the others know of a deletion of many objects that it is about to do. A message that
/// is lost, or comes too late, only lets the writes of a node wait for longer.
struct DeletionMessage {
    /// The node that deletes.
    let sender: String
    let bucket: BucketName
    let clause: Clause

    init(by sender: String, of clause: Clause, in bucket: BucketName) {
        (self.sender, self.clause, self.bucket) = (sender, clause, bucket)
    }

    /// Nil for anything else.
    init?(_ text: String, limits: Limits) {
        guard
            let read = try? JSONParser.reading(
                Array(text.utf8),
                { view -> (String, BucketName, Clause) in
                    var members = try MemberReader(view)
                    return (
                        try members.string("sender"),
                        try BucketName(try members.string("bucket")),
                        try QueryParser(limits: limits).memberClause(of: &members)
                    )
                })
        else { return nil }
        (sender, bucket, clause) = read
    }

    /// Nil if it is too long to be sent.
    var text: String? {
        var writer = JSONWriter()
        writer.raw("{\"sender\":")
        writer.string(sender)
        writer.key("bucket")
        writer.string(bucket.text)
        writer.key("clause")
        clause.write(to: &writer)
        writer.raw("}")
        return writer.bytes.count <= ClusterTables.messageBytes
            ? String(decoding: writer.bytes, as: UTF8.self) : nil
    }
}
