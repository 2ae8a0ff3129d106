import BackendContract
import Geodesy
import JSONText
import Objects
import QueryLanguage

/// The two sides of a watch of couples at a moment.
struct PairSides {
    private let first: (bucket: BucketName, field: FieldPath, clause: Clause)
    private let second: (bucket: BucketName, field: FieldPath, clause: Clause)
    private let moment: Moment
    private let isVoid: Bool
    /// The most partners of one object.
    private let most: Int
    /// The distance within which two objects meet.
    let radius: Double
    private let leaveRadius: Double

    init(_ group: WatchGroup, _ moment: Moment, atMost count: Int) {
        self.init(group.topic, group.isVoid ? nil : group.query, moment, atMost: count)
    }

    /// - Parameters:
    ///   - query: that of the first side; nil if nothing can match.
    ///   - count: the most partners of one object.
    init(_ topic: WatchTopic, _ query: Query?, _ moment: Moment, atMost count: Int) {
        let (pairs, clause) = (topic.pairs!, query?.clause ?? topic.query.query.clause)
        first = (topic.bucket, clause.geoFields[0], clause)
        second = (pairs.bucket, pairs.field, pairs.clause)
        radius = pairs.radius
        leaveRadius = pairs.leaveRadius
        isVoid = query == nil
        most = count
        self.moment = moment
    }

    /// The couples of an object of a bucket within the distance of parting, with their distances.
    func couples(
        of creation: ChangeNumber, in bucket: BucketName
    ) throws(ServiceFailure) -> [WatchSubject: Distance] {
        var found: [WatchSubject: Distance] = [:]
        if bucket == first.bucket {
            found = try couples(ofFirst: creation)
        }
        if bucket == second.bucket {
            let others = try partners(of: creation, second, among: first)
            for (partner, distance) in others {
                let couple = couple(partner, creation)
                found[couple] = min(found[couple] ?? distance, distance)
            }
        }
        return found
    }

    /// The couples of an object in its role as the first side.
    func couples(
        ofFirst creation: ChangeNumber
    ) throws(ServiceFailure) -> [WatchSubject: Distance] {
        var found: [WatchSubject: Distance] = [:]
        for (partner, distance) in try partners(of: creation, first, among: second) {
            found[couple(creation, partner)] = distance
        }
        return found
    }

    private func couple(_ first: ChangeNumber, _ second: ChangeNumber) -> WatchSubject {
        guard self.first.bucket == self.second.bucket, second < first else {
            return WatchSubject(first: first, second: second)
        }
        return WatchSubject(first: second, second: first)
    }

    private typealias Side = (bucket: BucketName, field: FieldPath, clause: Clause)

    private func partners(
        of creation: ChangeNumber, _ own: Side, among other: Side
    ) throws(ServiceFailure) -> [(ChangeNumber, Distance)] {
        guard !isVoid, let object = moment.bucket(own.bucket)?.object(created: creation),
            let others = moment.bucket(other.bucket)
        else { return [] }
        let facts = ObjectFacts(object, JSONParser())
        let points = facts.points(at: own.field)
        guard !points.isEmpty, try own.clause.cheapestFirst.truth(of: facts) == .yes else {
            return []
        }
        let circles = points.map {
            Clause.geo(GeoClause(other.field, .circle(GeoCircle($0, radiusMeters: leaveRadius))))
        }
        let query = Query(clause: .and([.or(circles), other.clause]))
        let found = try moment.find(query, in: other.bucket, atMost: most)
        guard !found.hasMore else { throw .tooManyPairs(most) }
        return found.objects.compactMap {
            guard $0.creation != creation, let partner = others.object(created: $0.creation) else {
                return nil
            }
            return distance(points, partner.points(at: other.field)).map { (partner.creation, $0) }
        }
    }

    private func distance(_ points: [Coordinate], _ others: [Coordinate]) -> Distance? {
        points.lazy.flatMap { point in others.lazy.map { Sphere.distance(point, $0) } }.min()
    }

    // MARK: What clients read

    /// `"ids":["c7","r3"]`; nil if one of them does not exist at the moment.
    func ids(of couple: WatchSubject) -> [UInt8]? {
        guard let one = object(couple.first), let other = object(couple.second) else { return nil }
        var writer = JSONWriter()
        writer.raw("\"ids\":[")
        writer.string(one.id.text)
        writer.raw(",")
        writer.string(other.id.text)
        writer.raw("]")
        return writer.bytes
    }

    /// `"ids":["c7","r3"],"distance":153.204113`.
    func meeting(of couple: WatchSubject, _ distance: Distance) -> [UInt8]? {
        guard let ids = ids(of: couple) else { return nil }
        var writer = JSONWriter()
        writer.raw(ids)
        writer.raw(",\"distance\":")
        writer.millionths(distance.micrometers)
        return writer.bytes
    }

    private func object(_ creation: ChangeNumber) -> PinnedObject? {
        for bucket in [first.bucket, second.bucket] {
            // One that has just expired has a name still.
            if let object = moment.state.bucket(bucket, at: .min)?.object(created: creation) {
                return object
            }
        }
        return nil
    }

    /// Why an object has parted from another one. These sides are those before.
    func reason(
        _ creation: ChangeNumber, in bucket: BucketName, _ new: PinnedObject?,
        _ deletion: ChangeNumber?, _ next: Moment
    ) -> LeaveReason {
        let old = moment.bucket(bucket)?.object(created: creation)
        guard let new else {
            return deletion == nil || (old?.expiry ?? .max) <= next.time ? .expired : .deleted
        }
        guard let old else { return .changed }
        let fields = [first.field, second.field]
        let hasMoved = fields.contains { old.points(at: $0) != new.points(at: $0) }
        return hasMoved ? .moved : .changed
    }

    /// `"ids":["c7","r3"],"distance":…` with the present distance.
    func meeting(of couple: WatchSubject) -> [UInt8]? {
        guard let one = object(couple.first), let other = object(couple.second) else { return nil }
        let ways =
            first.bucket == second.bucket
            ? [(first.field, second.field), (second.field, first.field)]
            : [(first.field, second.field)]
        let distances = ways.compactMap { distance(one.points(at: $0), other.points(at: $1)) }
        return distances.min().flatMap { meeting(of: couple, $0) }
    }

    /// Couples as objects, as a snapshot shows them.
    func texts(of couples: [WatchSubject]) -> [[UInt8]] {
        couples.compactMap { couple in
            meeting(of: couple).map { [UInt8(ascii: "{")] + $0 + [UInt8(ascii: "}")] }
        }
    }
}

extension ServiceFailure {
    /// More objects match than a watch may have.
    static func tooManyWatched(_ limits: Limits) -> ServiceFailure {
        ServiceFailure(
            .invalidInputData,
            "more than \(limits.watchObjects) objects match (watchObjects); "
                + "watch a smaller part, or give a \"bestEffortLimit\"",
            at: "bucketQuery")
    }

    static func tooManyPairs(_ limits: Limits) -> ServiceFailure { tooManyPairs(limits.watchPairs) }

    fileprivate static func tooManyPairs(_ count: Int) -> ServiceFailure {
        ServiceFailure(
            .invalidInputData,
            "more than \(count) couples are within reach (watchPairs)", at: "pairs")
    }
}
