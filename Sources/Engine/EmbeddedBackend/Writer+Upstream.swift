import BackendContract
import InMemoryEngine
import Objects

/// What other stores have changed.
extension Writer {
    /// Applies and publishes what other stores have changed. It returns when that is visible.
    func follow(_ shared: SharedChanges) throws(StoreFailure) {
        let joined = SharedChanges(
            to: shared.state,
            by: shared.changes.joiningDeletions(longerThan: tuning.deletedAtOnce))
        let foreseen = takeForeseen(joined.changes)
        defer { for deletion in foreseen.values { engine.end(deletion) } }
        try thread.sync { () throws(StoreFailure) in
            try apply(joined, foreseen: engine.settled(foreseen))
        }
    }

    /// Applies the part of some changes that the store does not have yet.
    ///
    /// - Parameter foreseen: deletions among them that have been made beside the writer.
    func apply(
        _ shared: SharedChanges, foreseen: [BucketName: ForeseenDeletion] = [:]
    ) throws(StoreFailure) {
        guard shared.state.change > engine.change else { return }
        let changes = shared.changes.after(engine.change).joiningDeletions(
            longerThan: tuning.deletedAtOnce)
        let deletesMany =
            !changes.deletions.isEmpty || changes.tombstones.count > tuning.objectsForFreezing
        if deletesMany { engine.supersedeAll(FrozenDocuments(store: try store.freeze())) }
        do throws(StoreFailure) {
            let session = try store.write { transaction in
                let session = WriteSession(
                    transaction: transaction, engine: engine, parser: tools.first,
                    isAllSuperseded: deletesMany, foreseen: foreseen)
                try session.apply(changes)
                try transaction.set(SharedState.setting, to: shared.state.mark)
                return session
            }
            upstream?.publishing(shared.state)
            publish(session)
            removeRows(of: session.listed)
            dropForeseen(changes)
        } catch {
            engine.supersedeNothing()
            throw error
        }
        upstream?.published(shared)
    }

    /// Runs `body` between two transactions, when the store and the engine have the same state.
    ///
    /// - Parameter changes: if it is not nil, that is the state that its result leads to.
    func holding<State>(
        following changes: (() throws -> SharedChanges)? = nil,
        _ body: () throws(StoreFailure) -> State
    ) throws(StoreFailure) -> State {
        try thread.sync { () throws(StoreFailure) in
            if let changes {
                do {
                    try apply(try changes())
                } catch {
                    throw StoreFailure(error, path: store.path)
                }
            }
            return try body()
        }
    }
}
