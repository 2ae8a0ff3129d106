import Objects
import Runtime

/// How the parts of a node reach the tables.
struct ClusterConnector: Sendable {
    let address: PostgresAddress
    let limits: Limits
    let clock: ServiceClock

    /// The time for which requests wait for the end of an outage.
    var failoverTime: Duration { .milliseconds(limits.failoverMilliseconds) }

    /// A new connection.
    ///
    /// - Parameter answerTime: the time that the server may take for an answer; nil takes
    ///   `failoverTime`.
    func connect(answerTime: Duration? = nil) throws(PostgresFailure) -> ClusterTables {
        try ClusterTables(address, answerTime: answerTime ?? failoverTime, clock: clock)
    }

    /// Connects for the first time.
    ///
    /// - Throws: `.unusable` also for a connection that no server will accept.
    func tryFirst() throws(PostgresFailure) {
        do throws(PostgresFailure) {
            _ = try connect()
        } catch .unavailable(let reason) {
            guard address.isRefusedForGood(clock: clock) else { throw .unavailable(reason) }
            throw .unusable("PostgreSQL refuses the connection: \(reason)")
        }
    }

    /// The connection that there is, or a new one, which stays.
    ///
    /// - Parameters:
    ///   - tables: the connection; nil if there is none, or if it was lost.
    ///   - answerTime: as for `connect`.
    func connected(
        _ tables: inout ClusterTables?, answerTime: Duration? = nil
    ) throws(PostgresFailure) -> ClusterTables {
        if let tables { return tables }
        let fresh = try connect(answerTime: answerTime)
        tables = fresh
        return fresh
    }
}
