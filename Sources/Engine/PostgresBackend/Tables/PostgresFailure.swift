import CLibpq

/// The reason why PostgreSQL did not do what it was asked.
public enum PostgresFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// There is no connection, or it was lost, or the server cannot write now. The same may succeed
    /// later.
    case unavailable(String)
    /// Another session holds a lock for longer than `lock_timeout`.
    case locked
    /// The server's disk is full.
    case full
    /// A value that PostgreSQL cannot store.
    case unstorable(String)
    /// The database cannot be used as it is. The text says what to do.
    case unusable(String)
    /// Any other failure, in the server's words.
    case failed(String)

    /// What a pooler does that gives each transaction of a connection another session.
    static let sharedSessions = PostgresFailure.unusable(
        "a pooler before PostgreSQL gives the transactions of one connection to different sessions; "
            + "connect nodes to the server itself, or set pool_mode = session in PgBouncer")

    public var description: String {
        switch self {
        case .unavailable(let reason): "PostgreSQL cannot be reached: \(reason)"
        case .locked: "another session holds a lock in PostgreSQL"
        case .full: "PostgreSQL's disk is full"
        case .unstorable(let reason): "PostgreSQL cannot store a value: \(reason)"
        case .unusable(let reason): reason
        case .failed(let reason): "PostgreSQL: \(reason)"
        }
    }

    /// The failure that an error's SQLSTATE stands for.
    ///
    /// Source: PostgreSQL's manual, appendix A, "PostgreSQL Error Codes".
    init(state: String, message: String) {
        switch state {
        case "53100": self = .full
        case "55P03": self = .locked
        case "22021", "22P05": self = .unstorable(message)
        case "25006", "25P03", "40001", "40P01": self = .unavailable(message)
        // A prepared statement is not there, or there is one that this connection has not made.
        case "26000", "42P05": self = .sharedSessions
        case "42501":
            self = .unusable(
                "the role that geobucket logs in with lacks a right in PostgreSQL: \(message)")
        default:
            // Connection exceptions, insufficient resources, and interventions of an operator.
            switch state.prefix(2) {
            case "08", "53", "57", "": self = .unavailable(message)
            default: self = .failed(message)
            }
        }
    }
}
