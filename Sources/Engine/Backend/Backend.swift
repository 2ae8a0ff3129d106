import JSONText
import Objects
import QueryLanguage

/// What an engine does for the service: the only face that the layers above know.
///
/// Reads see one state from beginning to end, and it holds every write that was answered before
/// they began. They run on the caller's thread. A write is durable and visible before its
/// completion is called; the writes of one owner take effect, and their completions are called, in
/// the order in which they were submitted. A read whose `Effort` is stopped ends soon, with a failure.
public protocol Backend: Sendable {
    /// What `server.info` calls the store.
    var storeName: String { get }

    /// The buckets of one scope by name, those that come after one; without it all.
    ///
    /// - Returns: nil when `effort` is `.light` and looking through the buckets is not.
    func buckets(
        in scope: BucketScope, after last: BucketName?, effort: Effort
    ) throws(ServiceFailure) -> [BucketSummary]?

    /// Appends an object, whole, as clients read it.
    func get(
        _ id: ObjectID, in bucket: BucketName, into writer: inout JSONWriter
    ) throws(ServiceFailure)

    /// Appends the objects of one page, with commas between them.
    ///
    /// - Returns: how the page ended; nil when `effort` is `.light` and the query is not, in which
    ///   case nothing has been appended.
    func query(
        _ request: PageRequest, effort: Effort, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> PageEnd?

    /// How many objects satisfy a clause; nil when `effort` is `.light` and counting is not.
    ///
    /// - Parameter principal: who asks, if that is known.
    func count(
        _ clause: Clause, in bucket: BucketName, by principal: String?, effort: Effort
    ) throws(ServiceFailure) -> Int?

    /// Appends a JSON object that says how the query would run and, with `analyze`, did run.
    func explain(
        _ request: PageRequest, analyze: Bool, into writer: inout JSONWriter
    ) throws(ServiceFailure)

    /// How a query would run, in one line without the values that it asks for.
    func outline(of request: PageRequest) -> String

    /// Holds the present state of a bucket, to be read piece by piece.
    ///
    /// - Throws: `TOO_MANY_REQUESTS` where no more states can be held.
    func export(_ bucket: BucketName) throws(ServiceFailure) -> any BucketExport

    /// Queues a write; the completion is called once, on a thread of the backend's choice.
    ///
    /// - Parameters:
    ///   - key: where the write has been done under this key within the last 24 hours, it is not done
    ///     again, and its answer is the first one's.
    ///   - owner: who wants it; the writes of several owners take turns.
    func submit(
        _ write: Write, key: RequestKey?, by owner: String,
        completion: @escaping @Sendable (Result<WriteAnswer, ServiceFailure>) -> Void)

    func statistics() -> BackendStatistics

    /// Compares what is stored with everything that is derived from it, at one state; writes go on.
    func check(effort: Effort) throws(ServiceFailure) -> CheckReport

    /// Holds the present state of the store, to be copied piece by piece; writes go on.
    func backup() throws(ServiceFailure) -> any StoreBackup
}

extension Backend {
    /// How many objects satisfy a clause, for nobody in particular.
    public func count(
        _ clause: Clause, in bucket: BucketName, effort: Effort
    ) throws(ServiceFailure) -> Int? {
        try count(clause, in: bucket, by: nil, effort: effort)
    }

    /// Queues a write that has no key, for nobody in particular.
    public func submit(
        _ write: Write,
        completion: @escaping @Sendable (Result<WriteAnswer, ServiceFailure>) -> Void
    ) {
        submit(write, key: nil, by: "", completion: completion)
    }
}

/// One page to be read.
public struct PageRequest: Sendable {
    public var bucket: BucketName
    public var query: Query
    /// Bytes that the objects and, where there is one, the next page's key member may take; one
    /// object is returned even when it takes more.
    public var maximumBytes: Int
    /// Who asks, if that is known: what a query has made for later ones counts against it.
    public var principal: String?

    public init(
        bucket: BucketName, query: Query, maximumBytes: Int = .max, principal: String? = nil
    ) {
        self.bucket = bucket
        self.principal = principal
        self.query = query
        self.maximumBytes = maximumBytes
    }
}

/// How a page ended.
public struct PageEnd: Sendable, Equatable {
    public var objects: Int
    /// Present exactly when at least one more object matches.
    public var nextPaginationKey: String?

    public init(objects: Int, nextPaginationKey: String? = nil) {
        self.objects = objects
        self.nextPaginationKey = nextPaginationKey
    }

    /// What the member that carries the next page's key takes in an answer.
    public static func keyMemberBytes(_ key: String) -> Int {
        #","nextPaginationKey":"""#.utf8.count + key.utf8.count
    }
}

public struct BucketSummary: Sendable, Equatable {
    public var bucket: BucketName
    public var objects: Int
    /// Paths that hold a GeoPoint in at least one object, in the order of their text.
    public var geoFields: [String]

    public init(bucket: BucketName, objects: Int, geoFields: [String]) {
        self.bucket = bucket
        self.objects = objects
        self.geoFields = geoFields
    }
}
