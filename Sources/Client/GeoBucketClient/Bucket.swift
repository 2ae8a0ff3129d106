import PlainJSON
import Wire

/// A bucket of a service. Saving the first object creates it.
///
///     let shops = client.bucket("shops")
///     let notes = client.bucket("notes", in: .user("alice"))
public struct Bucket: Sendable {
    /// Whose buckets: the application's own, or those of one user, group or thing.
    public enum Scope: Sendable, Hashable {
        /// Buckets with no prefix, open to everyone who may use the service.
        case application
        /// By the principal, who alone has access besides administrators.
        case user(String)
        /// By the group's name; its members have access, and administrators.
        case group(String)
        /// By the thing's id, such as a device's; as open as the application's own.
        case thing(String)

        /// `users/alice`; nil for the application's own.
        public var text: String? {
            switch self {
            case .application: nil
            case .user(let id): "users/\(id)"
            case .group(let id): "groups/\(id)"
            case .thing(let id): "things/\(id)"
            }
        }
    }

    /// The client that the bucket's calls go through.
    public let client: ServiceClient
    /// The full name: `shops`, or with a scope `users/alice/notes`.
    public let name: String

    // MARK: Objects

    /// A new object; saving it gives it an id.
    public func createObject() -> GeoObject { GeoObject(self, id: nil) }

    /// A new object with a `_dataType`, 1 to 200 bytes.
    public func createObject(withType type: String) -> GeoObject {
        GeoObject(self, dataType: type)
    }

    /// The object with an id, whether it exists or not: `refresh` reads it, `saveAllFields` writes
    /// it.
    public func createObject(withID id: String) -> GeoObject { GeoObject(self, id: id) }

    /// The object with an id as it is now.
    ///
    /// - Throws: `ClientFailure.refused` with `OBJECT_NOT_FOUND`.
    public func object(withID id: String) async throws -> GeoObject {
        let object = createObject(withID: id)
        try await object.refresh()
        return object
    }

    /// Writes many documents, all or none; those with an `_id` replace the object that has it.
    ///
    /// - Parameter field: documents replace only objects whose value of this field is less than theirs;
    ///   the others stay as they are.
    /// - Returns: their ids, in order.
    public func putMany(
        _ documents: [JSONValue], ifNewer field: String? = nil
    ) async throws -> [String] {
        let condition = field.map { [JSONValue.Member("ifNewer", .string($0))] } ?? []
        let answer = try await write(
            .putMany, [.init("objects", .array(documents))] + condition)
        return answer["objects"]?.array?.compactMap { $0["_id"]?.string } ?? []
    }

    /// Deletes the bucket and all its objects, and returns how many there were.
    @discardableResult
    public func delete() async throws -> Int {
        try await write(.deleteBucket, []).member("deleted")
    }

    /// Deletes every object that a clause selects, and returns how many there were.
    @discardableResult
    public func deleteObjects(matching clause: Clause) async throws -> Int {
        try await write(
            .deleteWhere, [.init("bucketQuery", .object(["clause": clause.json]))]
        )
        .member("deleted")
    }

    // MARK: Questions

    /// One page of the objects that match the query, as the query is at the call.
    public func execute(_ query: BucketQuery) async throws -> QueryResult {
        let query = query.copy()
        return try await read(.query, query.members) { answer in
            QueryResult(
                objects: try answer["results"]?.elements.map {
                    try GeoObject(self, document: $0, isPartial: query.fields != nil)
                } ?? [],
                nextQuery: answer["nextPaginationKey"]?.string.map(query.next))
        }
    }

    /// Every object that matches the query, as the query is at the call. Pages are fetched on
    /// demand.
    public func objects(matching query: BucketQuery = BucketQuery()) -> ObjectSequence {
        ObjectSequence(bucket: self, query: query.copy())
    }

    /// How many objects match the query. Its order, limit and fields are of no account.
    public func count(_ query: BucketQuery = BucketQuery()) async throws -> Int {
        try await read(.count, [.init("bucketQuery", query.document)]).member("count")
    }

    // MARK: Calls

    func read<Result>(
        _ method: MethodName, _ members: [JSONValue.Member],
        _ body: (JSONView) throws -> Result = { try JSONValue($0) }
    ) async throws -> Result {
        try await client.read(method, [.init("bucket", .string(name))] + members, body)
    }

    /// - Parameter object: the JSON text of a member `object`.
    func write<Result>(
        _ method: MethodName, _ members: [JSONValue.Member], object: [UInt8]? = nil,
        _ body: (JSONView) throws -> Result = { try JSONValue($0) }
    ) async throws -> Result {
        try await client.write(
            method, [.init("bucket", .string(name))] + members, object: object, body)
    }
}

/// One page of an answer.
public struct QueryResult: Sendable {
    /// The objects of the page in the order of the query.
    public let objects: [GeoObject]
    /// The query for the next page; nil if there is none.
    public let nextQuery: BucketQuery?
}

/// The objects of all pages. A page is fetched when the one before has been consumed.
///
/// Objects that nobody changes meanwhile appear exactly once, whatever else is written, also when
/// the service restarts between two pages.
public struct ObjectSequence: AsyncSequence, Sendable {
    /// An object as it was when its page was read.
    public typealias Element = GeoObject

    let bucket: Bucket
    let query: BucketQuery

    public func makeAsyncIterator() -> Iterator { Iterator(bucket: bucket, next: query) }

    /// A walk through the pages, one request for each.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        let bucket: Bucket
        fileprivate var next: BucketQuery?
        private var page: [GeoObject].SubSequence = []

        fileprivate init(bucket: Bucket, next: BucketQuery) {
            self.bucket = bucket
            self.next = next
        }

        /// The next object, fetched with its page if need be; nil after the last.
        ///
        /// - Throws: what `Bucket.execute` throws.
        public mutating func next() async throws -> GeoObject? {
            while page.isEmpty, let query = next {
                let result = try await bucket.execute(query)
                (page, next) = (result.objects[...], result.nextQuery)
            }
            return page.popFirst()
        }
    }
}

extension ServiceClient {
    /// A bucket by its name, or by its full name: `users/alice/notes`.
    public func bucket(_ name: String, in scope: Bucket.Scope = .application) -> Bucket {
        Bucket(client: self, name: scope.text.map { "\($0)/\(name)" } ?? name)
    }

    /// Succeeds if the service answers.
    public func ping() async throws { try await read(.ping, []) { _ in } }

    /// The buckets of a scope and how many objects each has.
    public func buckets(in scope: Bucket.Scope = .application) async throws -> [String: Int] {
        let params = scope.text.map { [JSONValue.Member("scope", .string($0))] } ?? []
        let answer = try await read(.listBuckets, params) { try JSONValue($0) }
        return try (answer["buckets"]?.array ?? []).reduce(into: [:]) { counts, bucket in
            counts[try bucket.member("bucket", as: String.self)] = try bucket.member("objects")
        }
    }

    /// Reads from the bucket; `body` converts the result while it is parsed.
    func read<Result>(
        _ method: MethodName, _ members: [JSONValue.Member], _ body: (JSONView) throws -> Result
    ) async throws -> Result {
        let params = try Self.text(.object(members))
        let answer = try await callText(
            "\(method.text)", params, isRepeatable: method.mayBeRepeated)
        return try Self.reading(answer, body)
    }

    /// Writes, under a new request key if the configuration says so.
    ///
    /// - Parameter object: the JSON text of a member `object`.
    func write<Result>(
        _ method: MethodName, _ members: [JSONValue.Member], object: [UInt8]?,
        _ body: (JSONView) throws -> Result
    ) async throws -> Result {
        var members = members
        if configuration.usesRequestKeys {
            members.append(.init("requestKey", .string(Self.newRequestKey())))
        }
        var params = try Self.text(.object(members))
        if let object {
            params.removeLast()
            params += Array(",\"object\":".utf8) + object + [UInt8(ascii: "}")]
        }
        let answer = try await callText(
            "\(method.text)", params, isRepeatable: configuration.usesRequestKeys)
        return try Self.reading(answer, body)
    }

    /// 128 random bits.
    private static func newRequestKey() -> String {
        var random = SystemRandomNumberGenerator()
        return String(random.next(), radix: 36) + String(random.next(), radix: 36)
    }
}
