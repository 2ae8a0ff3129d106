import BackendContract
import InMemoryEngine
import JSONText
import Objects

/// A store that has only some of the buckets of its upstream. The caller knows which, and asks for
/// no other; see `Upstream.refusal(of:)`.
extension SQLiteBackend {
    /// Adds a piece of buckets on their way into the store, at a state of the upstream of their
    /// own. The change number of this store stays as it is.
    public func add(_ piece: StoreChanges) throws(StoreFailure) { try writer.add(piece) }

    /// Brings the store and some of the buckets on their way into it to one state.
    ///
    /// - Parameters:
    ///   - changes: called between two writes. What leads this store to a state, and what leads the
    ///     buckets to the same one.
    ///   - joined: called when the store has that state, before any other write.
    public func join(
        _ changes: () throws -> (own: SharedChanges, theirs: StoreChanges),
        then joined: () -> Void
    ) throws(StoreFailure) {
        try writer.join(changes, then: joined)
    }

    /// Removes a bucket, whole or not. Reads that have begun go on.
    ///
    /// - Parameter letGo: called between two writes, before anything is removed. It returns whether
    ///   the bucket may go.
    public func remove(
        _ bucket: BucketName, letGo: () -> Bool = { true }
    ) throws(StoreFailure) {
        try writer.remove(bucket, letGo: letGo)
    }

    /// Keeps a value of at least one byte under a name.
    public func remember(_ value: [UInt8], as name: String) throws(StoreFailure) {
        try writer.remember(value, as: name)
    }

    /// Notes that the deletions of objects of a bucket up to a change are unknown, because the bucket
    /// was copied at that state.
    public func noteForgottenDeletions(
        in bucket: BucketName, upTo change: ChangeNumber
    ) throws(StoreFailure) {
        try writer.noteForgottenDeletions(in: bucket, upTo: change)
    }

    /// The bytes of memory that a bucket takes as long as it is there: not its columns and cached
    /// documents, which have bounds of their own.
    public var heldBytes: Int {
        let memory = engine.statistics().memory
        return memory.buckets + memory.records + memory.ids + memory.points
    }

    /// Whether a bucket exists.
    public func has(_ bucket: BucketName) -> Bool { engine.has(bucket) }
}

extension Writer {
    func add(_ piece: StoreChanges) throws(StoreFailure) {
        try thread.sync { () throws(StoreFailure) in try fill(piece) }
    }

    func remember(_ value: [UInt8], as name: String) throws(StoreFailure) {
        try thread.sync { () throws(StoreFailure) in try store.set(name, to: value) }
    }

    func noteForgottenDeletions(
        in bucket: BucketName, upTo change: ChangeNumber
    ) throws(StoreFailure) {
        try thread.sync { () throws(StoreFailure) in
            try store.noteForgottenDeletions(in: bucket, upTo: change)
        }
    }

    func join(
        _ changes: () throws -> (own: SharedChanges, theirs: StoreChanges), then joined: () -> Void
    ) throws(StoreFailure) {
        try thread.sync { () throws(StoreFailure) in
            do {
                let (own, theirs) = try changes()
                try apply(own)
                try fill(theirs)
                joined()
            } catch {
                throw StoreFailure(error, path: store.path)
            }
        }
    }

    /// Applies changes that do not change the state's number.
    private func fill(_ piece: StoreChanges) throws(StoreFailure) {
        var piece = piece
        piece.change = engine.change
        let session = try store.write { transaction in
            let session = WriteSession(
                transaction: transaction, engine: engine, parser: JSONParser(),
                isAllSuperseded: false)
            try session.apply(piece)
            return session
        }
        publish(session)
        removeRows(of: session.listed)
    }

    func remove(_ bucket: BucketName, letGo: () -> Bool) throws(StoreFailure) {
        let creations = try thread.sync { () throws(StoreFailure) -> [ChangeNumber]? in
            guard letGo() else { return nil }
            let creations = engine.nextSnapshot().creations(in: bucket)
            // Readers of the present state may still ask for documents.
            if !creations.isEmpty {
                engine.supersedeAll(FrozenDocuments(store: try store.freeze()))
            }
            return creations
        }
        guard let creations else { return }
        // File and engine have the same objects between two pieces.
        for begin in stride(from: 0, to: creations.count, by: tuning.removedAtOnce) {
            let piece = creations[begin..<min(begin + tuning.removedAtOnce, creations.count)]
            try change { transaction, next in
                try transaction.erase(piece, in: bucket)
                // Nobody has deleted them: the state's number stays.
                next.delete(
                    Array(piece), in: bucket,
                    by: Array(repeating: engine.change, count: piece.count))
            }
        }
        try change { transaction, next in
            try transaction.dropForgottenDeletions(in: bucket)
            guard let number = try transaction.bucket(bucket) else { return }
            try transaction.deleteBucket(number, named: bucket)
            next.deleteBucket(bucket)
        }
    }

    /// Changes file and engine between two writes, without a change of the state's number.
    private func change(
        _ body: (StoreTransaction, NextSnapshot) throws -> Void
    ) throws(StoreFailure) {
        try thread.sync { () throws(StoreFailure) in
            let next = engine.nextSnapshot()
            try store.write { try body($0, next) }
            if !next.isUnchanged { engine.publish(next, upTo: engine.change) }
        }
    }
}
