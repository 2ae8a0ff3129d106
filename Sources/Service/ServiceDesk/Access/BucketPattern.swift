import Objects

/// A name in a token's list of buckets: a bucket, a scope with all its buckets (`users/alice`), or
/// the beginning of names, with a star at its end (`log-*`, `things/*`, `*`).
struct BucketPattern: Sendable, Equatable {
    /// As it stands in the list.
    let text: String
    /// What the names of its buckets begin with; of a bucket the whole name.
    let beginning: String
    /// Whether it is a single bucket.
    let isBucket: Bool

    /// - Throws: `INVALID_BUCKET` for what fits no bucket.
    init(_ text: String, at path: String) throws(ServiceFailure) {
        self.text = text
        isBucket = !text.hasSuffix("*") && (try? BucketScope(text, at: path)) == nil
        if text.hasSuffix("*") {
            beginning = String(text.dropLast())
            guard Self.begins(beginning) else {
                throw ServiceFailure(
                    .invalidBucket,
                    "\(quoted(text)) fits no bucket: expected the beginning of a name "
                        + "or of users/, groups/ or things/, and a star at the end", at: path)
            }
        } else if isBucket {
            _ = try BucketName(text, at: path)
            beginning = text
        } else {
            beginning = text + "/"
        }
    }

    /// Whether the name of some bucket begins with a text.
    private static func begins(_ text: String) -> Bool {
        text.isEmpty
            // What is missing of a name, or of a name in a scope, is filled up.
            || ["a", "aa", "/aa", "a/aa"].contains { (try? BucketName(text + $0)) != nil }
            || (try? BucketName(text)) != nil
            || ["users/", "groups/", "things/"].contains { $0.hasPrefix(text) }
    }

    func contains(_ bucket: BucketName) -> Bool {
        isBucket ? bucket.text == beginning : bucket.text.hasPrefix(beginning)
    }

    /// Whether some bucket of a scope may be among its own.
    func reaches(_ scope: BucketScope) -> Bool {
        // Only names of other scopes have a "/".
        if scope == .application { return !beginning.utf8.contains(UInt8(ascii: "/")) }
        let start = scope.text + "/"
        return beginning.hasPrefix(start) || !isBucket && start.hasPrefix(beginning)
    }
}

/// The buckets that a token is bound to. Of several names that fit a bucket the longest counts, and
/// its own name before all others.
struct BucketBounds: Sendable, Equatable {
    private let buckets: Set<String>
    /// The longest beginnings first.
    private let patterns: [BucketPattern]

    /// - Throws: `INVALID_BUCKET` for a name that fits no bucket, or two that fit the same ones.
    init(_ names: Set<String>) throws(ServiceFailure) {
        var (buckets, patterns): (Set<String>, [BucketPattern]) = ([], [])
        var seen: Set<String> = []
        for name in names.sorted() {
            let pattern = try BucketPattern(name, at: "buckets")
            guard !pattern.isBucket else {
                buckets.insert(name)
                continue
            }
            guard seen.insert(pattern.beginning).inserted else {
                throw ServiceFailure(
                    .invalidBucket, "\(quoted(name)) stands here twice, once with a star",
                    at: "buckets")
            }
            patterns.append(pattern)
        }
        self.buckets = buckets
        self.patterns = patterns.sorted { $0.beginning.utf8.count > $1.beginning.utf8.count }
    }

    /// The name that a bucket falls under; nil if it is out of bounds.
    func name(of bucket: BucketName) -> String? {
        if buckets.contains(bucket.text) { return bucket.text }
        return patterns.first { $0.contains(bucket) }?.text
    }

    /// The only buckets of a scope that may be within bounds, in order; nil if they cannot be told
    /// without a look at what there is.
    func named(in scope: BucketScope) -> [BucketName]? {
        guard !patterns.contains(where: { $0.reaches(scope) }) else { return nil }
        return buckets.compactMap { try? BucketName($0) }.filter { $0.scope == scope }.sorted()
    }

    /// Whether a bucket of the scope may be within bounds.
    func reaches(_ scope: BucketScope) -> Bool {
        patterns.contains { $0.reaches(scope) }
            || buckets.contains { BucketName(trusted: $0).scope == scope }
    }
}
