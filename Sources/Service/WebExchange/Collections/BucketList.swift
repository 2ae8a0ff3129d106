import Objects
import ServiceDesk

extension GeoFields {
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
    /// A name behind which this bucket is among the first: its own without the last character.
    public var preceding: BucketName? {
        guard let name = try? BucketName(String(text.dropLast())), name.scope == scope else {
            return nil
        }
        return name
    }
}

extension WebOperations {
    /// The geo fields of a bucket; none of one that does not exist.
    public func geoFields(
        of bucket: BucketName, for caller: Caller
    ) async throws(WebFailure) -> GeoFields {
        var last = bucket.preceding
        repeat {
            let page = try await ask(.buckets(of: bucket.scope, after: last), from: caller)
            if let found = page.buckets.first(where: { $0.name == bucket }) {
                return found.geoFields
            }
            last = page.next
            if let listed = page.buckets.last, bucket < listed.name { break }
        } while last != nil
        return GeoFields(all: [], place: nil)
    }
}
