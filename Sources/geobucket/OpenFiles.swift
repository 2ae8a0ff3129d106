import Glibc
import Logging
import Objects

/// How many files and sockets the process may have open.
enum OpenFiles {
    /// What the program needs besides connections: the store, its readers, refused connections.
    private static let others = 1_500

    /// Raises the process's limit to what the limit of connections needs, as far as it may.
    static func raiseLimit(for limits: Limits, _ logger: Logger) {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0 else { return }
        let wanted = rlim_t(limits.connections + others)
        guard limit.rlim_cur < wanted else { return }
        limit.rlim_cur = min(wanted, limit.rlim_max)
        if limit.rlim_cur < wanted {
            logger.warning(
                "the system allows fewer open files than the limit of connections needs",
                metadata: ["allowed": "\(limit.rlim_max)", "needed": "\(wanted)"])
        }
        setrlimit(resource, &limit)
    }
}
