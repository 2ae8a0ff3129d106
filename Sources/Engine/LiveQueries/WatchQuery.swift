import JSONText
import Objects
import QueryLanguage

/// What a watch asks for: a query whose circles may follow objects.
public struct WatchQuery: Sendable, Hashable {
    /// Clause, order and limit. With a limit, the watch is a ranking: the first so many.
    var query: Query
    /// The circles that follow an object.
    var centers: [MovingCenter]

    /// The most objects of a ranking.
    static let rankedObjects = 200

    /// Reads `bucketQuery` and `bestEffortLimit`, and refuses them as `bucket.query` does.
    public init(from members: inout MemberReader, limits: Limits) throws(ServiceFailure) {
        let (query, centers) = try QueryParser(limits: limits).watchedQuery(from: &members)
        try self.init(query, centers, limit: query.limit)
    }

    /// A query and the circles in it that follow an object.
    ///
    /// - Parameter limit: nil for a watch that is no ranking.
    /// - Throws: for a limit that no ranking has.
    public init(
        _ query: Query, _ centers: [MovingCenter], limit: Int?
    ) throws(ServiceFailure) {
        (self.query, self.centers) = (query, centers)
        self.query.limit = limit
        if let limit, limit > Self.rankedObjects {
            throw ServiceFailure(
                .invalidInputData,
                "a watch has a limit of at most \(Self.rankedObjects), or none",
                at: "bestEffortLimit")
        }
    }

    /// What objects have to satisfy.
    public var clause: Clause { query.clause }

    /// The path of the member that names a bucket as that of a centre; nil if no centre is in it.
    public func path(of bucket: BucketName) -> String? {
        guard let center = centers.first(where: { $0.bucket == bucket }),
            let path = query.clause.path(toShape: center.ordinal)
        else { return nil }
        return (["bucketQuery", "clause"] + path + ["center", "bucket"]).joined(separator: ".")
    }

    /// Whether it is the first so many of an order.
    var isRanking: Bool { query.limit != nil }
}
