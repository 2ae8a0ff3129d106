import JSONText
import Objects
import QueryLanguage

// Calls that tell what buckets there are, and what is in them.

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
}

/// A page of the list of buckets.
public struct ListedBuckets: Sendable {
    /// By name.
    public let buckets: [ListedBucket]
    /// The last of them, if others follow.
    public let next: BucketName?
}

extension TypedCall where Reply == ListedBuckets {
    /// The buckets of a scope within the caller's reach, by name.
    ///
    /// - Parameter last: those behind it only.
    public static func buckets(of scope: BucketScope, after last: BucketName?) -> Self {
        Self(
            .listBuckets, ListBuckets(in: scope, after: last), .list(scope),
            { writer in
                if scope != .application {
                    writer.key("scope")
                    writer.string(scope.text)
                }
                if let last {
                    writer.key("paginationKey")
                    writer.string(last.text)
                }
            },
            remote: { view in
                guard let buckets = view["buckets"] else { return nil }
                return ListedBuckets(
                    buckets: buckets.elements.map(ListedBucket.init),
                    next: view["nextPaginationKey"]?.string.map { BucketName(trusted: $0) })
            })
    }
}

/// A field path and the types of its values.
public struct SurveyedField: Sendable {
    /// The path.
    public let path: String
    /// The types, the most frequent first.
    public let types: [FieldType]
    /// Whether some of its whole numbers are, or may be, beyond 32 bits.
    public let isWide: Bool

    /// Stores its arguments.
    public init(path: String, types: [FieldType], isWide: Bool = false) {
        (self.path, self.types, self.isWide) = (path, types, isWide)
    }
}

extension TypedCall where Reply == [SurveyedField] {
    /// The fields of a bucket's objects, nested ones too, without those that the service sets.
    public static func fields(of bucket: BucketName) -> Self {
        Self(
            .fields, ListFields(of: bucket), .read(bucket), { _ in },
            remote: { view in
                guard let fields = view["fields"] else { return nil }
                // What was not looked at may have numbers of any size.
                let isSampled = view["objects"]?.number != view["sampled"]?.number
                return fields.elements.map { field in
                    let types = field["types"].map { Array($0.members) } ?? []
                    return SurveyedField(
                        path: field["field"]?.string ?? "",
                        types: types.compactMap {
                            FieldType(rawValue: String(decoding: $0.name, as: UTF8.self))
                        }, isWide: isSampled || field["wide"] != nil)
                }
            })
    }
}
