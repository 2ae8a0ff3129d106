import BackendContract
import InMemoryEngine
import Objects

/// A write that waits for its transaction.
struct PendingWrite: Sendable {
    let write: Write
    let key: RequestKey?
    let owner: String
    let bytes: Int
    let completion: @Sendable (Result<WriteAnswer, ServiceFailure>) -> Void
    /// What a write that `searches` has found.
    var found: FoundDeletion?
    /// Whether `found` is that of the present state.
    var isSettled = false
    /// The stay of the bucket in which that was found: see `Upstream.stay(of:)`.
    var stay: Int?

    init(
        _ write: Write, _ key: RequestKey?, by owner: String,
        _ completion: @escaping @Sendable (Result<WriteAnswer, ServiceFailure>) -> Void
    ) {
        (self.write, self.key, self.owner, self.completion) = (write, key, owner, completion)
        bytes = write.memoryBytes
        if case .deleteWhere(let bucket, let clause) = write {
            found = FoundDeletion(of: clause, in: bucket)
        }
    }
}
