import JSONText
import Objects
import Operations
import QueryLanguage
import Synchronization
import WebExchange
import Wire

/// What was known of buckets a moment ago, so that one page of features after the other does not
/// survey the bucket anew.
///
/// An entry is only for callers with the very permissions of the one whose request made it. Every
/// request that uses it also reads the bucket, with the permissions that hold then.
final class Catalog: Sendable {
    /// The geo fields, and the survey of all fields.
    struct Entry: Sendable {
        let geoFields: GeoFields
        let fields: [CollectionShape.Field]
        fileprivate let grant: Grant?
        fileprivate let time: Int64

        init(
            geoFields: GeoFields, fields: [CollectionShape.Field], grant: Grant?, time: Int64
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

extension FeatureExchange {
    /// The collection that the path names.
    func collectionName() throws(WebFailure) -> CollectionName {
        do throws(WebFailure) {
            return try CollectionName(arguments["collectionId"] ?? "")
        } catch {
            throw Self.noSuchCollection
        }
    }

    static let noSuchCollection = WebFailure(
        .notFound, "BUCKET_NOT_FOUND", "there is no such collection")

    /// The collection's objects as they are now, or with `isRecent` as they were a moment ago.
    func shape(
        of collection: CollectionName, isRecent: Bool = false
    ) async throws(WebFailure) -> CollectionShape {
        let bucket = collection.bucket
        if isRecent, let known = site.catalog.entry(of: bucket, for: caller.grant, at: site.now()),
            let field = try? known.geoFields.field(of: collection)
        {
            return CollectionShape(
                geoField: field, geoFields: known.geoFields.all, fields: known.fields)
        }
        let geoFields = try await geoFields(of: bucket)
        let field = try geoFields.field(of: collection)
        let fields = try await fields(of: bucket)
        site.catalog.keep(
            Catalog.Entry(
                geoFields: geoFields, fields: fields, grant: caller.grant, time: site.now()),
            of: bucket)
        return CollectionShape(geoField: field, geoFields: geoFields.all, fields: fields)
    }

    /// The geo fields of a bucket; none of one that does not exist.
    func geoFields(of bucket: BucketName) async throws(WebFailure) -> GeoFields {
        var key = bucket.precedingKey
        repeat {
            let page = try await buckets(of: bucket.scope, after: key)
            if let found = page.buckets.first(where: { $0.name == bucket }) {
                return found.geoFields
            }
            key = page.next
            if let last = page.buckets.last, bucket < last.name { break }
        } while key != nil
        return GeoFields(all: [], place: nil)
    }

    /// A page of the buckets of a scope, by name.
    func buckets(
        of scope: BucketScope, after key: String?
    ) async throws(WebFailure) -> (buckets: [ListedBucket], next: String?) {
        let answer = try await call(.listBuckets) { writer in
            writer.raw("{")
            if scope != .application {
                writer.key("scope")
                writer.string(scope.text)
            }
            if let key {
                writer.key("paginationKey")
                writer.string(key)
            }
            writer.raw("}")
        }
        return try reading(answer) { view in
            let listed = (view["buckets"].map { Array($0.elements) } ?? []).map(ListedBucket.init)
            return (listed, view["nextPaginationKey"]?.string)
        }
    }

    private func fields(
        of bucket: BucketName
    ) async throws(WebFailure) -> [CollectionShape.Field] {
        let answer = try await call(.fields) { writer in
            writer.raw("{")
            writer.key("bucket")
            writer.string(bucket.text)
            writer.raw("}")
        }
        return try reading(answer) { view in
            // What was not looked at may have numbers of any size.
            let (objects, sampled) = (view["objects"], view["sampled"])
            let isSampled =
                if let objects, let sampled {
                    !sampled.text.elementsEqual(objects.text)
                } else {
                    false
                }
            return (view["fields"].map { Array($0.elements) } ?? []).map { field in
                let types = field["types"].map { Array($0.members) } ?? []
                return CollectionShape.Field(
                    path: field["field"]?.string ?? "",
                    types: types.compactMap {
                        FieldType(rawValue: String(decoding: $0.name, as: UTF8.self))
                    }, isWide: isSampled || field["wide"] != nil)
            }
        }
    }
}

/// A bucket in the list of buckets.
struct ListedBucket: Sendable {
    let name: BucketName
    let geoFields: GeoFields

    init(_ view: JSONView) {
        name = BucketName(trusted: view["bucket"]?.string ?? "")
        let fields = (view["geoFields"].map { Array($0.elements) } ?? []).compactMap(\.string)
        geoFields = GeoFields(
            all: fields.map { FieldPath($0) }, place: view["place"]?.string.map { FieldPath($0) })
    }
}

/// The fields of a bucket that hold GeoPoints, by name, and its place, which is one of them.
struct GeoFields: Sendable {
    let all: [FieldPath]
    let place: FieldPath?

    /// The field of a collection.
    ///
    /// - Throws: 404 if the bucket has no such field.
    func field(of collection: CollectionName) throws(WebFailure) -> FieldPath {
        guard let field = collection.field ?? place, all.contains(field) else {
            throw FeatureExchange.noSuchCollection
        }
        return field
    }
}

extension BucketName {
    /// A page key behind which this bucket is among the first: its name without the last character.
    var precedingKey: String? {
        let shorter = String(text.dropLast())
        guard let name = try? BucketName(shorter), name.scope == scope else { return nil }
        return shorter
    }
}
