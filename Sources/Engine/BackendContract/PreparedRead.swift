import JSONText
import Objects
import QueryLanguage

/// A request to read.
public enum ReadRequest: Sendable {
    /// The objects of a page, with commas between them.
    ///
    /// The principal is given if it is known. Background work that its query requests counts
    /// against it.
    case page(Query, in: BucketName, by: String? = nil)
    /// The number of objects that satisfy a clause. Nothing is appended.
    case count(Clause, in: BucketName, by: String? = nil)
    /// A JSON object with the results of a query's aggregations, by name.
    case aggregation(Query, in: BucketName, by: String? = nil)
    /// A JSON object that describes how a query would run and, with `analyze`, how it did run.
    case explanation(Query, in: BucketName, analyze: Bool)
    /// A JSON object with the matches by cells of the world's grid; a `PreparedClusterRead`.
    case clusters(ClusterQuery, in: BucketName, by: String? = nil)
    /// A JSON object with the paths of the fields of a bucket's objects, and their types.
    case fields(in: BucketName)
    /// An array of the reasons for which a query finds nothing, none if it is not known why. Buckets
    /// that satisfy the condition may be named.
    case hints(Query, in: BucketName, mayName: @Sendable (BucketName) -> Bool)
    /// The buckets of a scope that satisfy a condition, by name, with commas between them. Only
    /// those after a given name are included, if one is given, and only those among others, which
    /// are in order, if they are.
    case buckets(
        in: BucketScope, after: BucketName?, among: [BucketName]? = nil,
        where: @Sendable (BucketName) -> Bool)
}

extension ReadRequest {
    /// The bucket that it reads; nil if it lists buckets.
    public var bucket: BucketName? {
        switch self {
        case .page(_, let bucket, _), .count(_, let bucket, _), .aggregation(_, let bucket, _),
            .explanation(_, let bucket, _), .clusters(_, let bucket, _), .fields(let bucket),
            .hints(_, let bucket, _):
            bucket
        case .buckets: nil
        }
    }

    /// The same request; a list has only those buckets that satisfy a condition besides.
    public func limited(
        to isListed: @escaping @Sendable (BucketName) -> Bool
    ) -> ReadRequest {
        guard case .buckets(let scope, let last, let names, let condition) = self else {
            return self
        }
        return .buckets(
            in: scope, after: last, among: names, where: { condition($0) && isListed($0) })
    }
}

/// A read that has been checked and planned. Its cost is known, so its owner can choose the thread
/// on which it runs.
///
///     let read = try backend.prepare(.page(query, in: shops))
///     let end = try read.run(maximumBytes: .max, until: nil, into: &writer)
///
/// It holds the state of the moment at which it was prepared, and answers from that state whatever
/// is written before it runs. One thread at a time may run it. Each run appends the same result; a
/// read that is never asked whether it may run, and never runs, has no effect.
public protocol PreparedRead: AnyObject, Sendable {
    /// Whether running it may take more than a quarter of a millisecond. A costly read must not run
    /// on a thread that other requests wait for.
    var isCostly: Bool { get }

    /// The bucket of a query or a count and its plan, without the values that it looks for.
    var outline: (bucket: BucketName, plan: String)? { get }

    /// The operators and fields of its clause, without values, for logs; nil without a clause.
    var clauseShape: String? { get }

    /// Whether to run the read now. If not, something is being built that would make it much cheaper;
    /// the owner should let go of the read, and of the state that it holds, and prepare it anew when
    /// `ready` is called. The wait holds no thread.
    ///
    /// - Parameters:
    ///   - begin: when the request's turn came, in nanoseconds of the monotonic clock. All waits of
    ///     one request end `columnWaitMilliseconds` later.
    ///   - waits: how often the request has waited already. What is lacking is asked for the first time
    ///     only.
    ///   - stop: ends the wait.
    ///   - ready: if the result is false, called once, on any thread and perhaps before the result is
    ///     there; with a failure if the wait was in vain.
    func mayRun(
        since begin: Int64, after waits: Int, until stop: StopSignal,
        _ ready: @escaping @Sendable (ServiceFailure?) -> Void
    ) -> Bool

    /// Appends the result.
    ///
    /// - Parameters:
    ///   - maximumBytes: the most that a page may occupy, including the member that holds the next
    ///     page's key if there is one. One object or bucket is appended even if it is larger. An
    ///     aggregation with groups fails rather than occupy more.
    ///   - stop: ends the read early, with a failure.
    func run(
        maximumBytes: Int, until stop: StopSignal?, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> ReadEnd
}

extension PreparedRead {
    /// Nil for a read that is neither a query nor a count.
    public var outline: (bucket: BucketName, plan: String)? { nil }

    /// Nil for a read without a clause.
    public var clauseShape: String? { nil }

    /// True: it waits for nothing.
    public func mayRun(
        since begin: Int64, after waits: Int, until stop: StopSignal,
        _ ready: @escaping @Sendable (ServiceFailure?) -> Void
    ) -> Bool { true }
}

/// A prepared read of clusters, whose result may be had without JSON.
public protocol PreparedClusterRead: PreparedRead {
    /// The result.
    ///
    /// - Parameter maximumBytes: the most that the texts of objects in it may occupy.
    func clusters(
        maximumBytes: Int, until stop: StopSignal?
    ) throws(ServiceFailure) -> ClusterAnswer
}

/// The result of a read.
public struct ReadEnd: Sendable, Equatable {
    /// The number of objects or buckets that were appended or, for a count or an aggregation, found.
    public var count: Int
    /// The key of the next page; present exactly when at least one more result follows.
    public var nextPaginationKey: String?

    /// Stores its arguments. Without a key nothing follows.
    public init(count: Int, nextPaginationKey: String? = nil) {
        self.count = count
        self.nextPaginationKey = nextPaginationKey
    }

    /// The bytes that the member with the next page's key occupies in an answer.
    public static func keyMemberBytes(_ key: String) -> Int {
        #","nextPaginationKey":"""#.utf8.count + key.utf8.count
    }
}
