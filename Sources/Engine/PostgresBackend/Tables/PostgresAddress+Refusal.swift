import CLibpq
import Glibc
import Runtime

extension PostgresAddress {
    /// Whether every server refuses a connection for a reason that does not go away by itself: a wrong
    /// password, a role or a database that does not exist, no rule in `pg_hba.conf`.
    ///
    /// libpq tells the SQLSTATE of a refusal only in its verbose texts, and those only for a
    /// connection that is made step by step. So this tries once more.
    public func isRefusedForGood(clock: ServiceClock) -> Bool {
        servers.allSatisfy { server in
            guard let handle = connect(to: server, by: PQconnectStartParams) else { return false }
            defer { PQfinish(handle) }
            PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
            guard Self.fails(handle, until: clock.deadline(after: .seconds(3))),
                let text = PQerrorMessage(handle)
            else { return false }
            return PQconnectionNeedsPassword(handle) == 1
                || String(cString: text).contains(Self.lastingState)
        }
    }

    /// Invalid authorization, an invalid catalogue name, insufficient privilege.
    private static var lastingState: Regex<Substring> { #/\b(?:28[0-9A-Z]{3}|3D000|42501): /# }

    /// Whether a connection that is begun is refused before a deadline.
    private static func fails(_ handle: OpaquePointer, until deadline: Deadline) -> Bool {
        var status = PGRES_POLLING_WRITING
        while true {
            switch status {
            case PGRES_POLLING_FAILED: return true
            case PGRES_POLLING_READING, PGRES_POLLING_WRITING: break
            default: return false
            }
            let events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT
            guard (try? isReady(PQsocket(handle), for: events, until: deadline)) == true else {
                return false
            }
            status = PQconnectPoll(handle)
        }
    }
}
