import Objects
import ServiceDesk
import Synchronization

/// The shapes of collections, and what was known of their buckets a moment ago, so that one page or
/// tile after the other does not survey the bucket anew.
///
/// An entry is only for callers with the very permissions of the one whose request made it. Every
/// request that uses it also reads the bucket, with the permissions that hold then.
public final class Catalog: Sendable {
    /// The geo fields, and the survey of all fields.
    struct Entry: Sendable {
        let geoFields: GeoFields
        let fields: [SurveyedField]
        fileprivate let grant: Grant?
        fileprivate let time: Int64

        init(
            geoFields: GeoFields, fields: [SurveyedField], grant: Grant?, time: Int64
        ) {
            (self.geoFields, self.fields, self.grant, self.time) = (geoFields, fields, grant, time)
        }

        /// The memory that it takes, about; names are a client's choice.
        fileprivate var bytes: Int {
            geoFields.all.reduce(256) { $0 + 32 + $1.utf8.count }
                + fields.reduce(0) { $0 + 96 + $1.path.utf8.count }
        }
    }

    /// For so long an entry may be used.
    static let milliseconds = 5_000
    /// What all entries may take; above it all are forgotten.
    static let maximumBytes = 16 * 1_048_576

    private struct Contents {
        var entries: [BucketName: Entry] = [:]
        var bytes = 0
        /// When those that may not be used any more were forgotten.
        var cleared: Int64 = 0

        mutating func keep(_ entry: Entry, of bucket: BucketName) {
            if abs(entry.time - cleared) > Int64(Catalog.milliseconds) {
                entries = entries.filter { $0.value.isUsable(at: entry.time) }
                (bytes, cleared) = (entries.values.reduce(0) { $0 + $1.bytes }, entry.time)
            }
            if let former = entries.removeValue(forKey: bucket) { bytes -= former.bytes }
            guard entry.bytes <= Catalog.maximumBytes else { return }
            if bytes + entry.bytes > Catalog.maximumBytes { (entries, bytes) = ([:], 0) }
            entries[bucket] = entry
            bytes += entry.bytes
        }
    }

    private let contents = Mutex(Contents())
    let operations: any WebOperations
    /// Milliseconds since 1970.
    private let now: @Sendable () -> Int64

    /// A catalog of a service's buckets.
    ///
    /// - Parameter now: milliseconds since 1970.
    public init(operations: any WebOperations, now: @escaping @Sendable () -> Int64) {
        (self.operations, self.now) = (operations, now)
    }

    /// The bytes of what is known.
    var bytes: Int { contents.withLock { $0.bytes } }

    /// What is known of a bucket; nil if nothing is, or nothing recent.
    func entry(of bucket: BucketName, for grant: Grant?, at time: Int64) -> Entry? {
        guard let entry = contents.withLock({ $0.entries[bucket] }), entry.grant == grant,
            entry.isUsable(at: time)
        else { return nil }
        return entry
    }

    func keep(_ entry: Entry, of bucket: BucketName) {
        contents.withLock { $0.keep(entry, of: bucket) }
    }
}

extension Catalog.Entry {
    fileprivate func isUsable(at now: Int64) -> Bool {
        (time...time + Int64(Catalog.milliseconds)).contains(now)
    }
}

extension Catalog {
    /// The shape of a collection, as its bucket is now, or with `isRecent` as it was a moment ago.
    ///
    /// - Throws: 404 for a collection that does not exist.
    public func shape(
        of collection: CollectionName, for caller: Caller, isRecent: Bool = false
    ) async throws(WebFailure) -> CollectionShape {
        let bucket = collection.bucket
        if isRecent, let known = recent(bucket, for: caller),
            let field = try? known.geoFields.field(of: collection)
        {
            return CollectionShape(
                geoField: field, geoFields: known.geoFields.all, fields: known.fields)
        }
        let geoFields = try await operations.geoFields(of: bucket, for: caller)
        let field = try geoFields.field(of: collection)
        let fields = try await fields(of: bucket, for: caller)
        keep(
            Entry(geoFields: geoFields, fields: fields, grant: caller.grant, time: now()),
            of: bucket)
        return CollectionShape(geoField: field, geoFields: geoFields.all, fields: fields)
    }

    /// Refuses a collection that does not exist.
    ///
    /// - Throws: 404.
    public func check(
        _ collection: CollectionName, for caller: Caller
    ) async throws(WebFailure) {
        let known = recent(collection.bucket, for: caller)?.geoFields
        if known.flatMap({ try? $0.field(of: collection) }) != nil { return }
        _ = try await operations.geoFields(of: collection.bucket, for: caller).field(of: collection)
    }

    private func recent(_ bucket: BucketName, for caller: Caller) -> Entry? {
        entry(of: bucket, for: caller.grant, at: now())
    }

    func fields(
        of bucket: BucketName, for caller: Caller
    ) async throws(WebFailure) -> [SurveyedField] {
        try await operations.ask(.fields(of: bucket), from: caller)
    }
}
