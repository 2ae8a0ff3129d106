import BackendContract
import InMemoryEngine

/// What other stores have changed.
extension Writer {
    /// Applies and publishes what other stores have changed. It returns when that is visible.
    func follow(_ shared: SharedChanges) throws(StoreFailure) {
        try thread.sync { () throws(StoreFailure) in try apply(shared) }
    }

    /// Applies the part of some changes that the store does not have yet.
    func apply(_ shared: SharedChanges) throws(StoreFailure) {
        guard shared.state.change > engine.change else { return }
        let changes = shared.changes.after(engine.change)
        let deletesMany = changes.tombstones.count > tuning.objectsForFreezing
        if deletesMany { engine.supersedeAll(FrozenDocuments(store: try store.freeze())) }
        do throws(StoreFailure) {
            let session = try store.write { transaction in
                let session = WriteSession(
                    transaction: transaction, engine: engine, parser: tools.first,
                    isAllSuperseded: deletesMany)
                try session.apply(changes)
                try transaction.set(SharedState.setting, to: shared.state.mark)
                return session
            }
            upstream?.publishing(shared.state)
            publish(session)
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
