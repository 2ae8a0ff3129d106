import BackendContract
import JSONText
import Objects

/// Lists buckets by name, with the number of their objects and the paths that hold GeoPoints.
final class PreparedListing: PreparedRead {
    private let snapshot: Snapshot
    private let now: Int64
    private let scope: BucketScope
    private let last: BucketName?
    private let isListed: @Sendable (BucketName) -> Bool
    let isCostly: Bool

    /// The number of buckets, and of their field paths, that are written in about a quarter of a
    /// millisecond.
    private static let (fewBuckets, fewFields) = (1_000, 1_000)

    init(
        _ scope: BucketScope, after last: BucketName?,
        where isListed: @escaping @Sendable (BucketName) -> Bool, on engine: Engine
    ) {
        (self.scope, self.last, self.isListed) = (scope, last, isListed)
        let (snapshot, now) = (engine.snapshot, engine.clock.milliseconds())
        (self.snapshot, self.now) = (snapshot, now)
        // Expired objects are counted one by one.
        isCostly =
            snapshot.buckets.count > Self.fewBuckets
            || snapshot.buckets.values.contains { $0.state.expiries.next <= now }
            || snapshot.buckets.values.reduce(0) { $0 + $1.state.fields.count } > Self.fewFields
    }

    func run(
        maximumBytes: Int, until stop: StopSignal?, into writer: inout JSONWriter
    ) -> ReadEnd {
        let found = snapshot.buckets.filter { name, _ in
            name.scope == scope && last.map { $0 < name } ?? true
        }
        let start = writer.count
        var end = ReadEnd(count: 0)
        var previous: BucketName?
        for (name, bucketView) in found.sorted(by: { $0.key < $1.key }) where isListed(name) {
            let before = writer.count
            if previous != nil { writer.byte(UInt8(ascii: ",")) }
            bucketView.current(at: { now }).writeSummary(named: name, to: &writer)
            let size = writer.count - start + ReadEnd.keyMemberBytes(name.text)
            if let previous, size > maximumBytes {
                writer.truncate(to: before)
                end.nextPaginationKey = previous.text
                break
            }
            previous = name
            end.count += 1
        }
        return end
    }
}

extension BucketView {
    fileprivate func writeSummary(named name: BucketName, to writer: inout JSONWriter) {
        let (objects, geoFields) = contents
        let fields = geoFields.map(\.text).sorted {
            $0.utf8.lexicographicallyPrecedes($1.utf8)
        }
        writer.raw("{\"bucket\":")
        writer.string(name.text)
        writer.key("objects")
        writer.integer(objects)
        writer.raw(",\"geoFields\":[")
        writer.list(fields) { $1.string($0) }
        writer.raw("]}")
    }
}
