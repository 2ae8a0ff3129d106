import JSONText
import Objects
import Operations
import Wire

/// A bucket in the list of buckets.
public struct ListedBucket: Sendable {
    /// Its name.
    public let name: BucketName
    /// Its geo fields.
    public let geoFields: GeoFields

    fileprivate init(_ view: JSONView) {
        name = BucketName(trusted: view["bucket"]?.string ?? "")
        let fields = (view["geoFields"].map { Array($0.elements) } ?? []).compactMap(\.string)
        geoFields = GeoFields(
            all: fields.map { FieldPath($0) }, place: view["place"]?.string.map { FieldPath($0) })
    }
}

/// The fields of a bucket that hold GeoPoints, by name, and its place, which is one of them.
public struct GeoFields: Sendable {
    /// All of them; none of a bucket that does not exist.
    public let all: [FieldPath]
    /// The bucket's place; nil if there are none.
    public let place: FieldPath?

    /// Stores its arguments.
    public init(all: [FieldPath], place: FieldPath?) { (self.all, self.place) = (all, place) }

    /// The field of a collection.
    ///
    /// - Throws: 404 if the bucket has no such field.
    public func field(of collection: CollectionName) throws(WebFailure) -> FieldPath {
        guard let field = collection.field ?? place, all.contains(field) else {
            throw .noSuchCollection
        }
        return field
    }
}

extension WebFailure {
    /// The refusal of a collection that does not exist.
    public static let noSuchCollection = WebFailure(
        .notFound, "BUCKET_NOT_FOUND", "there is no such collection")
}

extension BucketName {
    /// A page key behind which this bucket is among the first: its name without the last character.
    public var precedingKey: String? {
        let shorter = String(text.dropLast())
        guard let name = try? BucketName(shorter), name.scope == scope else { return nil }
        return shorter
    }
}

extension WebOperations {
    /// A page of the buckets of a scope within the caller's reach, by name, and the key of the next.
    public func buckets(
        of scope: BucketScope, after key: String?, for caller: Caller
    ) async throws(WebFailure) -> (buckets: [ListedBucket], next: String?) {
        let answer = try await ask(.listBuckets, from: caller) { writer in
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

    /// The geo fields of a bucket; none of one that does not exist.
    public func geoFields(
        of bucket: BucketName, for caller: Caller
    ) async throws(WebFailure) -> GeoFields {
        var key = bucket.precedingKey
        repeat {
            let page = try await buckets(of: bucket.scope, after: key, for: caller)
            if let found = page.buckets.first(where: { $0.name == bucket }) {
                return found.geoFields
            }
            key = page.next
            if let last = page.buckets.last, bucket < last.name { break }
        } while key != nil
        return GeoFields(all: [], place: nil)
    }
}
