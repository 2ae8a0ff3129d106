import Synchronization

/// What the connections of all event loops hold, as each loop has last reported.
final class ConnectionMemory: Sendable {
    /// Bytes of all connections of an event loop, and of the one that holds the most.
    struct Share {
        let total: Int
        let largest: Int
    }

    private let limit: Int
    private let shares = Mutex<[ObjectIdentifier: Share]>([:])

    init(limit: Int) { self.limit = limit }

    /// Takes a loop's report.
    ///
    /// - Returns: whether all loops together hold too much and this one has the connection that
    ///   holds the most; it is to be closed, and the rest reported.
    func report(_ share: Share, of scheduler: LoopScheduler) -> Bool {
        shares.withLock { shares in
            shares[ObjectIdentifier(scheduler)] = share
            guard shares.values.reduce(0, { $0 + $1.total }) > limit else { return false }
            return shares.values.allSatisfy { $0.largest <= share.largest }
        }
    }
}
