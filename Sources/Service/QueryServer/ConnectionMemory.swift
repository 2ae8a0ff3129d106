import Synchronization

/// Memory use of the connections of all event loops, as each loop has last reported it.
final class ConnectionMemory: Sendable {
    /// Bytes of all connections of an event loop, and of its largest connection.
    struct Share {
        let total: Int
        let largest: Int
    }

    private let limit: Int
    private let shares = Mutex<[ObjectIdentifier: Share]>([:])

    init(limit: Int) { self.limit = limit }

    /// Records a loop's report.
    ///
    /// - Returns: whether all loops together exceed the limit and this loop has the largest
    ///   connection. The caller closes that connection and reports again.
    func report(_ share: Share, of rounds: ConnectionRounds) -> Bool {
        shares.withLock { shares in
            shares[ObjectIdentifier(rounds)] = share
            guard shares.values.reduce(0, { $0 + $1.total }) > limit else { return false }
            return shares.values.allSatisfy { $0.largest <= share.largest }
        }
    }
}
