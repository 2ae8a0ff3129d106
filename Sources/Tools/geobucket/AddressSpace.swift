import Glibc
import Logging
import NIOCore

/// The limit on the process's address space (`ulimit -v`). When it is exhausted, threads and
/// allocations fail, and the process ends without a message.
enum AddressSpace {
    /// The C library's reservation for each allocating thread, and the most such reservations per
    /// processor.
    private static let arenaBytes = 64 << 20
    private static let arenasPerProcessor = 8
    /// Address space for everything else that a start needs.
    private static let otherBytes = 192 << 20

    /// Refuses a limit that is too small to start so many threads.
    static func check(threads: Int = max(System.coreCount, 1)) throws {
        guard let limit else { return }
        let arenas = min(threads, max(System.coreCount, 1) * arenasPerProcessor)
        let needed = threads * stackBytes + arenas * arenaBytes + otherBytes
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        let room = mmap(nil, needed, PROT_NONE, flags, -1, 0)
        guard room != MAP_FAILED else {
            throw CommandFailure(
                "the limit of address space (ulimit -v) is \(limit >> 10) KiB: to start takes "
                    + "\(needed >> 10) KiB more than is in use; bound memory by a control group")
        }
        munmap(room, needed)
    }

    /// Warns of a limit, because the stored data may reach it later.
    static func warnOfLimit(_ logger: Logger) {
        guard let limit else { return }
        logger.warning(
            "address space is limited (ulimit -v): a service that needs more ends without a word",
            metadata: ["KiB": .stringConvertible(limit >> 10)])
    }

    private static var limit: Int? {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_AS.rawValue)
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur != rlim_t.max else { return nil }
        return Int(clamping: limit.rlim_cur)
    }

    /// Bytes of a thread's stack.
    private static var stackBytes: Int {
        var attributes = pthread_attr_t()
        guard pthread_attr_init(&attributes) == 0 else { return 8 << 20 }
        defer { pthread_attr_destroy(&attributes) }
        var size = 0
        return pthread_attr_getstacksize(&attributes, &size) == 0 ? size : 8 << 20
    }
}
