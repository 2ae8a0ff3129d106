import Geodesy
import JSONText
import Objects
import QueryLanguage

/// A watch as a client asks for it, validated.
public struct WatchRequest: Sendable {
    /// The bucket that is watched; of pairs, that of the first side.
    public var bucket: BucketName
    /// What is watched in it.
    public var query: WatchQuery
    /// First-level names to show besides `_id` and `_calculated`; nil means the whole object.
    public var fields: [[UInt8]]?
    /// What an earlier notification said, to go on from there.
    public var resume: String?
    /// The distance in metres beyond which an object leaves; nil if that is the radius.
    public var leaveRadius: Double?
    /// The least time between two notifications of a ranking; nil for the usual one.
    public var intervalMilliseconds: Int?
    /// The other side, if couples are watched.
    public var pairs: WatchPairs?

    /// The usual least time between two notifications of a ranking.
    static let interval = 100

    /// Reads `bucketQuery`, `bestEffortLimit`, `fields`, `resume`, `leaveRadius`,
    /// `intervalMilliseconds` and `pairs`.
    ///
    /// - Throws: what `bucket.query` throws, with the path of the member.
    public init(
        bucket: BucketName, from members: inout MemberReader, limits: Limits
    ) throws(ServiceFailure) {
        self.bucket = bucket
        query = try WatchQuery(from: &members, limits: limits)
        fields = try QueryParser(limits: limits).fields(&members)
        resume = try members.optionalString("resume")
        leaveRadius = try members.meters("leaveRadius")
        intervalMilliseconds = try members.optionalInt("intervalMilliseconds", in: 0...60_000)
        if let view = members.optional("pairs") {
            pairs = try ServiceFailure.inside("pairs", try WatchPairs(view, limits: limits))
        }
        try check()
    }

    /// A watch of objects, or of a ranking.
    public init(bucket: BucketName, query: WatchQuery, fields: [[UInt8]]?, resume: String?) {
        (self.bucket, self.query, self.fields, self.resume) = (bucket, query, fields, resume)
    }

    /// Every bucket that the watch reads, the one that is watched first.
    public var buckets: [BucketName] {
        let others = Set(query.centers.map(\.bucket) + [pairs?.bucket].compactMap(\.self))
        return [bucket] + others.subtracting([bucket]).sorted()
    }

    /// The path of the member that names one of these buckets.
    public func path(of bucket: BucketName) -> String {
        bucket == self.bucket ? "bucket" : query.path(of: bucket) ?? "pairs.bucket"
    }

    /// Whether what belongs to the watch depends on what belonged to it before.
    var remembersObjects: Bool { leaveRadius != nil || pairs != nil }

    /// Refuses what does not belong together.
    func check() throws(ServiceFailure) {
        func refuse(_ member: String, _ message: String) throws(ServiceFailure) {
            throw ServiceFailure(.invalidInputData, message, at: member)
        }
        if intervalMilliseconds != nil, !query.isRanking {
            try refuse(
                "intervalMilliseconds", "only a watch with a \"bestEffortLimit\" has an interval")
        }
        if pairs != nil {
            if query.isRanking || !query.query.order.isEmpty {
                try refuse("pairs", "pairs have neither an order nor a limit")
            }
            if leaveRadius != nil {
                try refuse("leaveRadius", "the \"leaveRadius\" of pairs stands in \"pairs\"")
            }
            if pairField == nil {
                try refuse("pairs", "expected a \"bucketQuery\" with clauses on one geo field")
            }
        }
        guard let leaveRadius else { return }
        if query.isRanking {
            try refuse("leaveRadius", "a watch with a \"bestEffortLimit\" has no \"leaveRadius\"")
        }
        let radii = query.query.clause.radii
        guard radii.count == 1, radii[0].isFinite else {
            return try refuse(
                "leaveRadius", "expected a \"bucketQuery\" with one geodistance with a radius")
        }
        if leaveRadius < radii[0] {
            try refuse("leaveRadius", "expected at least the radius, \(radii[0]) m")
        }
    }

    /// The geo field of the first side of pairs; nil if the query has not exactly one.
    var pairField: FieldPath? {
        let fields = Set(query.query.clause.geoFields)
        return fields.count == 1 ? fields.first : nil
    }
}

/// The other side of a watch of couples.
public struct WatchPairs: Sendable, Hashable {
    /// The bucket of the other side.
    public let bucket: BucketName
    /// The geo field of the other side.
    public let field: FieldPath
    /// What objects of the other side satisfy.
    public let clause: Clause
    /// The distance in metres within which two objects meet.
    public let radius: Double
    /// The distance in metres beyond which they part.
    public let leaveRadius: Double

    init(_ view: JSONView, limits: Limits) throws(ServiceFailure) {
        var members = try MemberReader(view)
        bucket = try BucketName(try members.string("bucket"), at: "bucket")
        field = FieldPath(utf8: try members.utf8("field"))
        clause = try QueryParser(limits: limits).memberClause(of: &members)
        guard let radius = try members.meters("radius") else {
            throw members.failure("radius", "\"radius\" is missing; expected a number of metres")
        }
        self.radius = radius
        leaveRadius = try members.meters("leaveRadius") ?? radius
        guard leaveRadius >= radius else {
            throw members.failure("leaveRadius", "expected at least the radius, \(radius) m")
        }
        try members.finish(as: "the other side of pairs")
    }
}

extension MemberReader {
    /// A length on the ground, more than 0.
    fileprivate mutating func meters(_ name: StaticString) throws(ServiceFailure) -> Double? {
        guard let value = optional(name) else { return nil }
        guard let meters = value.number?.double else {
            throw failure(name, "expected a number of metres")
        }
        guard meters > 0, meters <= GeoCircle.maximumRadiusMeters else {
            throw failure(
                name,
                "expected more than 0 and at most \(Int(GeoCircle.maximumRadiusMeters)) m")
        }
        return meters
    }
}

extension Clause {
    /// The radii of the tree's circles; infinity for a circle without a radius.
    var radii: [Double] {
        switch self {
        case .geo(let clause): clause.shape.radiusMeters.map { [$0] } ?? []
        case .and(let clauses), .or(let clauses): clauses.flatMap(\.radii)
        case .not(let clause): clause.radii
        default: []
        }
    }

    /// The fields of the tree's spatial clauses.
    var geoFields: [FieldPath] {
        switch self {
        case .geo(let clause): [clause.field]
        case .and(let clauses), .or(let clauses): clauses.flatMap(\.geoFields)
        case .not(let clause): clause.geoFields
        default: []
        }
    }

    /// The clause with another radius for all its circles.
    func withRadius(_ meters: Double) -> Clause {
        mapShapes { _, shape in shape.with(radiusMeters: meters) }
    }
}
