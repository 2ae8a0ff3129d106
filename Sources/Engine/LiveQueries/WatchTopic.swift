import Digests
import JSONText
import Objects
import QueryLanguage

/// What watches share that tell the same: they are matched and encoded once.
struct WatchTopic: Hashable {
    var bucket: BucketName
    var query: WatchQuery
    var fields: [[UInt8]]?
    var leaveRadius: Double?
    /// Milliseconds between two notifications of a ranking.
    var interval = 0
    var pairs: WatchPairs?
    /// Tells watches apart whose objects depend on when they began: what is between the radius and
    /// the radius of leaving belongs to those who had it before.
    var owner = 0

    /// - Parameter watch: the number of the watch.
    init(_ request: WatchRequest, of watch: Int) {
        bucket = request.bucket
        query = request.query
        fields = request.fields
        leaveRadius = request.leaveRadius
        pairs = request.pairs
        if query.isRanking {
            interval = request.intervalMilliseconds ?? WatchRequest.interval
        }
        if remembersObjects { owner = watch }
    }

    /// Whether what belongs to the watch depends on what belonged to it before.
    var remembersObjects: Bool { leaveRadius != nil || pairs != nil }

    /// Whether the difference to an earlier state follows from the objects that have changed.
    var isResumable: Bool { !remembersObjects && !query.isRanking && query.centers.isEmpty }

    /// What a token to resume is bound to: bucket and query, whatever fields are shown.
    var scope: [UInt8] {
        var writer = JSONWriter()
        writer.raw("[")
        writer.string(bucket.text)
        writer.raw(",")
        query.query.clause.write(to: &writer)
        writer.raw(",[")
        writer.list(query.query.order) { $0.write(to: &$1) }
        writer.raw("],")
        writer.integer(query.query.limit ?? 0)
        writer.raw(",")
        writer.double(leaveRadius ?? 0)
        writer.raw(",[")
        writer.list(query.centers) { center, writer in
            writer.raw("[")
            writer.integer(center.ordinal)
            writer.raw(",")
            writer.string(center.bucket.text)
            writer.raw(",")
            writer.string(center.id.text)
            writer.raw(",")
            writer.string(center.field.utf8)
            writer.raw("]")
        }
        writer.raw("]")
        if let pairs {
            writer.raw(",")
            writer.string(pairs.bucket.text)
            writer.raw(",")
            writer.string(pairs.field.utf8)
            writer.raw(",")
            pairs.clause.write(to: &writer)
            writer.raw(",")
            writer.double(pairs.radius)
            writer.raw(",")
            writer.double(pairs.leaveRadius)
        }
        writer.raw("]")
        return SHA256.digest(of: writer.bytes)
    }
}
