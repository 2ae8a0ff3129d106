import BackendContract
import Objects

extension SQLiteBackend {
    /// Gives pages back that hold nothing, for a while, between writes.
    ///
    /// A file that an earlier version has made is first written anew, while writes wait.
    public func compact(
        for time: Duration, until stop: StopSignal?
    ) throws(ServiceFailure) -> CompactionState {
        do {
            guard try store.givesPagesBack() else {
                try writer.holding { () throws(StoreFailure) in try store.rebuild() }
                return try compactionState()
            }
            let end = clock.deadline(after: time)
            var left = 1
            while left > 0, !end.isOver, stop?.isStopped != true {
                left = try writer.holding { () throws(StoreFailure) in
                    try store.giveBack(atMost: Writer.pagesAtOnce)
                }
            }
            return try compactionState()
        } catch {
            throw ServiceFailure(error)
        }
    }

    /// The file is cut off by checkpoints.
    private func compactionState() throws(StoreFailure) -> CompactionState {
        if try store.checkpoint() {
            try writer.holding { () throws(StoreFailure) in try store.finishCheckpoint() }
        }
        let free = try store.countPages().free
        return CompactionState(freePages: free, storeBytes: store.fileBytes)
    }
}
