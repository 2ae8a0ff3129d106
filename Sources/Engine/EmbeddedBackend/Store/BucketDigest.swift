import BackendContract
import Objects

/// The number of objects of a bucket, and a sum over the changes that created and last changed
/// them. Two stores whose digests are equal very probably hold the same versions.
public struct BucketDigest: Sendable, Equatable {
    /// The number of objects.
    public private(set) var count: Int
    /// The sum of the products of both numbers, modulo `modulus`.
    public private(set) var sum: UInt64

    /// A prime, 2^61 - 1.
    public static let modulus: UInt64 = 1 << 61 - 1

    /// Stores its arguments; without them the digest of an empty bucket.
    public init(count: Int = 0, sum: UInt64 = 0) {
        self.count = count
        self.sum = sum
    }

    mutating func add(creation: ChangeNumber, change: ChangeNumber) {
        count += 1
        let product = creation.multipliedFullWidth(by: change)
        let rest = Self.modulus.dividingFullWidth((product.high % Self.modulus, product.low))
        sum = (sum + rest.remainder) % Self.modulus
    }
}

extension FrozenStore {
    /// The digest of each bucket.
    public func digests() throws(StoreFailure) -> [BucketName: BucketDigest] {
        try read { db in
            var digests: [BucketName: BucketDigest] = [:]
            var names: [Int64: BucketName] = [:]
            let buckets = try SQLStatement(db, "SELECT number, name FROM bucket")
            while try buckets.step() {
                let name = BucketName(trusted: buckets.text(1) ?? "")
                names[buckets.int(0)] = name
                digests[name] = BucketDigest()
            }
            let rows = try SQLStatement(
                db, "SELECT bucket, creation, change FROM object ORDER BY creation")
            defer { rows.reset() }
            var deleted = try ListedCreations(db).walk()
            while try rows.step() {
                guard let name = names[rows.int(0)], !deleted.contains(rows.int(1)) else {
                    continue
                }
                digests[name]?.add(
                    creation: ChangeNumber(truncatingIfNeeded: rows.int(1)),
                    change: ChangeNumber(truncatingIfNeeded: rows.int(2)))
            }
            return digests
        }
    }
}
