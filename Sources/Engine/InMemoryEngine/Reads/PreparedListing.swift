import BackendContract
import JSONText
import Objects

/// Lists buckets by name, with the number of their objects the paths that hold GeoPoints, and their place.
final class PreparedListing: PreparedRead {
    private let snapshot: Snapshot
    private let now: Int64
    private let scope: BucketScope
    private let last: BucketName?
    /// The only ones that may be listed, in order; nil: all of the scope may.
    private let names: [BucketName]?
    private let isListed: @Sendable (BucketName) -> Bool
    let isCostly: Bool

    /// The number of buckets, and of their field paths, that are written in about a quarter of a
    /// millisecond.
    private static let (fewBuckets, fewFields) = (1_000, 1_000)

    init(
        _ scope: BucketScope, after last: BucketName?, among names: [BucketName]?,
        where isListed: @escaping @Sendable (BucketName) -> Bool, on engine: Engine
    ) {
        (self.scope, self.last, self.names) = (scope, last, names)
        self.isListed = isListed
        let (snapshot, now) = (engine.snapshot, engine.clock.milliseconds())
        (self.snapshot, self.now) = (snapshot, now)
        // Expired objects are counted one by one.
        isCostly =
            names.map { $0.count > Self.fewBuckets }
            ?? snapshot.names.has(moreThan: Self.fewBuckets, in: scope)
            || Self.areCostly(Self.candidates(scope, last, names, snapshot), at: now)
    }

    private static func areCostly(
        _ candidates: some Sequence<(name: BucketName, view: BucketView)>, at now: Int64
    ) -> Bool {
        var fields = 0
        return candidates.contains { _, view in
            fields += view.state.fields.count
            return fields > fewFields || view.state.expiries.next <= now
        }
    }

    /// The buckets that may be listed, by name, each found when it is asked for.
    private static func candidates(
        _ scope: BucketScope, _ last: BucketName?, _ names: [BucketName]?, _ snapshot: Snapshot
    ) -> some Sequence<(name: BucketName, view: BucketView)> {
        let all =
            names.map { names in
                AnySequence(
                    names.lazy.filter { name in
                        name.scope == scope && last.map { $0 < name } ?? true
                    })
            } ?? AnySequence(snapshot.names.names(in: scope, after: last))
        return all.lazy.compactMap { name in
            snapshot.buckets[name].map { (name: name, view: $0) }
        }
    }

    func run(
        maximumBytes: Int, until stop: StopSignal?, into writer: inout JSONWriter
    ) -> ReadEnd {
        let start = writer.count
        var end = ReadEnd(count: 0)
        var previous: BucketName?
        for (name, bucketView) in Self.candidates(scope, last, names, snapshot)
        where isListed(name) {
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
        let (objects, geoFields, place) = contents
        let fields = geoFields.map(\.text).sorted {
            $0.utf8.lexicographicallyPrecedes($1.utf8)
        }
        writer.raw("{\"bucket\":")
        writer.string(name.text)
        writer.key("objects")
        writer.integer(objects)
        writer.raw(",\"geoFields\":[")
        writer.list(fields) { $1.string($0) }
        writer.raw("]")
        if let place {
            writer.key("place")
            writer.string(place.text)
        }
        writer.raw("}")
    }
}
