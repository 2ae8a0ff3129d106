import Synchronization

/// The memory that the connections of all ports hold, as each event loop of the line port and each
/// listener for HTTP has last reported it.
public final class ConnectionMemory: Sendable {
    /// Bytes of all connections of a reporter, and of its largest connection.
    public struct Share: Sendable {
        /// Bytes of all its connections.
        public let total: Int
        /// Bytes of the connection that holds the most.
        public let largest: Int

        /// Stores its arguments.
        public init(total: Int, largest: Int) { (self.total, self.largest) = (total, largest) }
    }

    private let limit: Int
    private let shares = Mutex<[ObjectIdentifier: Share]>([:])

    /// No connections, which may hold `limit` bytes together.
    public init(limit: Int) { self.limit = limit }

    /// Records a report.
    ///
    /// - Returns: whether all together exceed the limit and the reporter has the largest
    ///   connection. It closes that connection and reports again.
    public func report(_ share: Share, of reporter: AnyObject) -> Bool {
        shares.withLock { shares in
            shares[ObjectIdentifier(reporter)] = share
            guard shares.values.reduce(0, { $0 + $1.total }) > limit else { return false }
            return shares.values.allSatisfy { $0.largest <= share.largest }
        }
    }
}
