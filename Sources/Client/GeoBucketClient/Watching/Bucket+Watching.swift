import PlainJSON

extension Bucket {
    /// Watches a query, as it is at the call.
    ///
    ///     for try await state in bucket.watch(query) { show(state.objects) }
    ///
    /// With a limit (1 to 200) it is a ranking: the first so many of the query's order, live. Otherwise
    /// it shows everything that matches.
    ///
    /// - Parameters:
    ///   - leaveRadius: metres: an object enters within the query's radius and leaves beyond this one,
    ///     so that nothing flickers at the edge.
    ///   - interval: of a ranking: at most one notification in so long; up to a minute.
    ///   - resume: `WatchState.resume` of an earlier run; the events go on from there.
    public func watch(
        _ query: BucketQuery = BucketQuery(), leaveRadius: Double? = nil,
        interval: Duration? = nil, resume: String? = nil
    ) -> Watch<GeoObject> {
        Watch(
            settings(leaveRadius, interval, resume), query,
            .objects(of: self, isPartial: query.fields != nil))
    }

    /// Watches a query for models; the loop ends with a `JSONMismatch` at an object that is none.
    ///
    /// The parameters are those of `watch(_:leaveRadius:interval:resume:)`.
    public func watch<Model: Codable & Sendable>(
        _ query: BucketQuery = BucketQuery(), of type: Model.Type, leaveRadius: Double? = nil,
        interval: Duration? = nil, resume: String? = nil
    ) -> Watch<Stored<Model>> {
        Watch(
            settings(leaveRadius, interval, resume), query,
            .models(of: self, isPartial: query.fields != nil))
    }

    /// Watches which objects of this bucket and of another come near each other.
    ///
    /// - Parameters:
    ///   - query: which objects of this bucket; its clause names their GeoPoint field.
    ///   - other: the bucket of the other side; it may be the same.
    ///   - field: the GeoPoint field of the other side.
    ///   - clause: which objects of the other side; nil: all.
    ///   - radius: metres: a pair meets within this distance.
    ///   - leaveRadius: metres: a pair parts beyond this distance; nil: the same.
    public func watchPairs(
        _ query: BucketQuery = BucketQuery(), with other: Bucket, field: String = "location",
        clause: Clause? = nil, radius: Double, leaveRadius: Double? = nil
    ) -> Watch<Pair> {
        var side: [JSONValue.Member] = [
            .init("bucket", .string(other.name)), .init("field", .string(field)),
        ]
        if let clause { side.append(.init("clause", clause.json)) }
        side.append(.init("radius", .double(radius)))
        if let leaveRadius { side.append(.init("leaveRadius", .double(leaveRadius))) }
        let pairs = JSONValue.Member("pairs", .object(side))
        return Watch(WatchSettings(bucket: self, members: [pairs]), query, .pairs)
    }

    /// Watches a query for objects as the service writes them.
    ///
    /// - Parameter more: further params of `watch.start`.
    package func watchTexts(
        _ query: BucketQuery, more: [JSONValue.Member] = [], resume: String? = nil
    ) -> Watch<WatchedText> {
        Watch(WatchSettings(bucket: self, members: more, resume: resume), query, .texts)
    }

    private func settings(
        _ leaveRadius: Double?, _ interval: Duration?, _ resume: String?
    ) -> WatchSettings {
        var members: [JSONValue.Member] = []
        if let leaveRadius { members.append(.init("leaveRadius", .double(leaveRadius))) }
        if let interval {
            let parts = interval.components
            let milliseconds = parts.seconds * 1_000 + parts.attoseconds / 1_000_000_000_000_000
            members.append(.init("intervalMilliseconds", .int(Int(milliseconds))))
        }
        return WatchSettings(bucket: self, members: members, resume: resume)
    }
}

/// A centre that moves: wherever an object is.
///
///     let here = MovingCenter(of: "c7", in: couriers)
///     let clause = Clause.geoDistance("location", center: here, radius: 500)
///
/// Only watches take one. While the object is gone, its last position counts.
public struct MovingCenter: Sendable, Hashable {
    /// The full name of the object's bucket.
    public var bucket: String
    /// The object's id.
    public var id: String
    /// Its GeoPoint field.
    public var field: String

    /// The object with an id in a bucket.
    public init(of id: String, in bucket: Bucket, field: String = "location") {
        (self.bucket, self.id, self.field) = (bucket.name, id, field)
    }
}

extension Clause {
    /// Points within a distance of an object, wherever it is; only in watches.
    ///
    /// - Parameters:
    ///   - radius: metres; nil means everywhere.
    ///   - putDistanceInto: the name under which each object reports its distance.
    ///   - onEllipsoid: measure along geodesics on the WGS 84 ellipsoid instead of on the sphere.
    public static func geoDistance(
        _ field: String, center: MovingCenter, radius: Double? = nil,
        putDistanceInto: String? = nil, onEllipsoid: Bool = false
    ) -> Clause {
        let object = JSONValue.object([
            "_type": .string("object"), "bucket": .string(center.bucket),
            "_id": .string(center.id), "field": .string(center.field),
        ])
        return geoDistance(
            field, center: object, radius: radius, putDistanceInto: putDistanceInto,
            onEllipsoid: onEllipsoid)
    }
}
