import Objects

/// The buckets that everybody may read, and only read, without a login.
///
///     try PublicBuckets("read")                       // all that every login reaches
///     try PublicBuckets("read:airports,users/alice/shops")
///
/// Rates are limited by address. Whoever logs in may read them too.
public struct PublicBuckets: Sendable, Equatable {
    /// Nil: all but those of users and groups, which are their own.
    private let names: Set<BucketName>?

    /// The buckets that `--anonymous` names.
    ///
    /// - Throws: for another form, and for a name that no bucket can have.
    public init(_ text: String) throws(ServiceFailure) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts[0] == "read" else {
            throw ServiceFailure(
                .invalidInputData, "\(quoted(text)) is neither read nor read:BUCKET,…")
        }
        guard parts.count == 2 else {
            names = nil
            return
        }
        var names: Set<BucketName> = []
        for name in parts[1].split(separator: ",", omittingEmptySubsequences: false) {
            names.insert(try BucketName(String(name)))
        }
        self.names = names
    }

    /// Whether everybody may read a bucket. O(1).
    public func contains(_ bucket: BucketName) -> Bool {
        names?.contains(bucket) ?? bucket.scope.isCommon
    }

    /// The only buckets of a scope that are public, in order; nil if all are.
    func named(in scope: BucketScope) -> [BucketName]? {
        names?.filter { $0.scope == scope }.sorted() ?? (scope.isCommon ? nil : [])
    }

    /// What a caller without a login may do.
    ///
    /// - Throws: `UNAUTHORIZED`.
    func check(_ operation: Operation, _ caller: Caller) throws(ServiceFailure) {
        let isPermitted =
            switch operation {
            case .open, .invalid, .ownWatch: true
            case .read(let bucket): contains(bucket)
            // The application's scope is never refused, even if none of its buckets is public.
            case .list(let scope): scope == .application || named(in: scope) != []
            case .write, .administer: false
            }
        guard isPermitted else { throw .noLogin(caller) }
    }
}

/// The buckets that a caller may read: those of the login, and those that are public.
///
/// - Note: Without tokens every caller reaches every bucket.
struct Reach: Sendable, Equatable {
    /// Nil: no login is required.
    private let grant: Grant??
    private let everybody: PublicBuckets?

    /// - Parameters:
    ///   - grant: what the login permits; nil without one.
    ///   - isLimited: whether it is nothing without a login, but for what is public.
    init(_ grant: Grant?, _ everybody: PublicBuckets?, isLimited: Bool) {
        self.grant = isLimited || grant != nil ? .some(grant) : nil
        self.everybody = everybody
    }

    /// Whether nothing is within reach.
    var isEmpty: Bool { if case .some(nil) = grant { everybody == nil } else { false } }

    func contains(_ bucket: BucketName) -> Bool {
        guard let grant else { return true }
        return grant?.reaches(bucket) ?? false || everybody?.contains(bucket) ?? false
    }

    /// The only buckets of a scope that may be within reach, in order; nil if all may.
    func named(in scope: BucketScope) -> [BucketName]? {
        guard let grant else { return nil }
        let own = grant.map { $0.named(in: scope) } ?? []
        let shared = everybody.map { $0.named(in: scope) } ?? []
        guard let own, let shared else { return nil }
        return Set(own).union(shared).sorted()
    }
}
