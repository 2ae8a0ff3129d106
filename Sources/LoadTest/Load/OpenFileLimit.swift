import Glibc

/// How many files and sockets the process may have open.
enum OpenFileLimit {
    /// What a load test needs besides its connections.
    private static let others = 64

    /// Raises the process's limit to what so many connections need.
    ///
    /// - Throws: `LoadFailure` where the system does not allow it.
    static func raise(to connections: Int) throws {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0 else { return }
        let wanted = rlim_t(connections + others)
        guard limit.rlim_cur < wanted else { return }
        guard limit.rlim_max >= wanted else {
            throw LoadFailure(
                "\(connections) connections need \(wanted) open files, the system allows "
                    + "\(limit.rlim_max) (ulimit -n)")
        }
        limit.rlim_cur = wanted
        setrlimit(resource, &limit)
    }
}
