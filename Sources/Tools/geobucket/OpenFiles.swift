import Glibc
import Logging
import Objects

/// How many files and sockets the process may have open.
enum OpenFiles {
    /// Descriptors needed besides connections: the store, its readers, refused connections.
    private static let others = 1_500

    /// Raises the process's limit to what the limit on connections requires, as far as permitted.
    static func raiseLimit(for limits: Limits, _ logger: Logger) {
        let wanted = limits.connections + limits.httpConnections + limits.webConnections + others
        let allowed = raiseLimit(to: wanted)
        guard allowed < wanted else { return }
        logger.warning(
            "the system allows fewer open files than the limit of connections needs",
            metadata: [
                "allowed": .stringConvertible(allowed), "needed": .stringConvertible(wanted),
            ])
    }

    /// Raises the process's limit to a number, as far as permitted.
    ///
    /// - Returns: the new limit.
    static func raiseLimit(to wanted: Int) -> Int {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0 else { return wanted }
        if limit.rlim_cur < rlim_t(wanted) {
            limit.rlim_cur = min(rlim_t(wanted), limit.rlim_max)
            setrlimit(resource, &limit)
        }
        return Int(clamping: limit.rlim_cur)
    }
}
