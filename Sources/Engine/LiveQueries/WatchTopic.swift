import Digests
import JSONText
import Objects
import QueryLanguage

/// What watches share that tell the same: they are matched and encoded once.
///
/// A class because it is large, and everything that is known of a watch refers to it.
final class WatchTopic: Sendable {
    /// What one of the watches asked for.
    let request: WatchRequest
    /// Milliseconds between two notifications of a ranking.
    let interval: Int
    /// Tells watches apart whose objects depend on when they began: what is between the radius and
    /// the radius of leaving belongs to those who had it before.
    private let owner: Int

    /// - Parameter watch: the number of the watch.
    init(_ request: WatchRequest, of watch: Int) {
        var request = request
        request.resume = nil
        self.request = request
        interval =
            request.query.isRanking
            ? request.intervalMilliseconds ?? WatchRequest.interval : 0
        owner = request.remembersObjects ? watch : 0
    }

    var bucket: BucketName { request.bucket }
    var query: WatchQuery { request.query }
    var fields: [[UInt8]]? { request.fields }
    var leaveRadius: Double? { request.leaveRadius }
    var pairs: WatchPairs? { request.pairs }
    var buckets: [BucketName] { request.buckets }

    /// Whether what belongs to the watch depends on what belonged to it before.
    var remembersObjects: Bool { request.remembersObjects }

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

extension WatchTopic: Hashable {
    static func == (a: WatchTopic, b: WatchTopic) -> Bool {
        a === b
            || a.bucket == b.bucket && a.query == b.query && a.fields == b.fields
                && a.leaveRadius == b.leaveRadius && a.interval == b.interval
                && a.pairs == b.pairs && a.owner == b.owner
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(bucket)
        hasher.combine(query)
        hasher.combine(fields)
        hasher.combine(leaveRadius)
        hasher.combine(interval)
        hasher.combine(pairs)
        hasher.combine(owner)
    }
}
