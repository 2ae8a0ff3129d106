/// The most that the buckets of a scope may hold together; nil is no bound.
public struct Quota: Sendable, Equatable {
    /// Objects.
    public var objects: Int?
    /// Bytes of their minified JSON, as clients wrote it.
    public var bytes: Int?
    /// Buckets.
    public var buckets: Int?

    /// Stores its arguments.
    public init(objects: Int? = nil, bytes: Int? = nil, buckets: Int? = nil) {
        (self.objects, self.bytes, self.buckets) = (objects, bytes, buckets)
    }

    /// Each bound with its name and what a scope has of it.
    private func bounds(
        _ usage: ScopeUsage, _ change: ScopeUsage
    ) -> [(name: String, most: Int?, present: Int, change: Int)] {
        [
            ("objects", objects, usage.objects, change.objects),
            ("bytes", bytes, usage.bytes, change.bytes),
            ("buckets", buckets, usage.buckets, change.buckets),
        ]
    }

    /// Refuses a change that would pass a bound. One that makes nothing more passes none.
    ///
    /// - Parameters:
    ///   - usage: what the scope has.
    ///   - change: what a write would add.
    /// - Throws: `QUOTA_EXCEEDED` with the name of the bound.
    public func check(
        _ usage: ScopeUsage, adding change: ScopeUsage, in scope: BucketScope
    ) throws(ServiceFailure) {
        for (name, most, present, change) in bounds(usage, change) {
            guard let most, change > 0, present + change > most else { continue }
            throw ServiceFailure(
                .quotaExceeded,
                "the quota of \(quoted(scope.text)) is \(most) \(name): it has \(present), and "
                    + "\(change) more would be written",
                at: "bucket")
        }
    }

    /// How much of the bound that is nearest a scope has: 1 at the bound; 0 without one.
    public func part(of usage: ScopeUsage) -> Double {
        bounds(usage, ScopeUsage()).reduce(0) { part, bound in
            guard let most = bound.most else { return part }
            return max(part, most > 0 ? Double(bound.present) / Double(most) : 1)
        }
    }

    /// The least of each bound of two quotas.
    public func least(_ other: Quota) -> Quota {
        func least(_ a: Int?, _ b: Int?) -> Int? { [a, b].compactMap(\.self).min() }
        return Quota(
            objects: least(objects, other.objects), bytes: least(bytes, other.bytes),
            buckets: least(buckets, other.buckets))
    }
}

/// What the buckets of a scope hold together.
public struct ScopeUsage: Sendable, Equatable {
    /// Objects, expired ones included until they are removed.
    public var objects: Int
    /// Bytes of the minified JSON of objects whose rows are there.
    public var bytes: Int
    /// Buckets.
    public var buckets: Int

    /// Stores its arguments.
    public init(objects: Int = 0, bytes: Int = 0, buckets: Int = 0) {
        (self.objects, self.bytes, self.buckets) = (objects, bytes, buckets)
    }

    /// Both together.
    public static func + (a: ScopeUsage, b: ScopeUsage) -> ScopeUsage {
        ScopeUsage(
            objects: a.objects + b.objects, bytes: a.bytes + b.bytes, buckets: a.buckets + b.buckets
        )
    }
}
