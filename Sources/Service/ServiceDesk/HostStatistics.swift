import Glibc
import Runtime

/// What the machine, or the container, gives the process, and how much of it is left.
struct HostStatistics {
    /// The most memory that the process may have, in bytes: of its control group, else the machine's.
    let memoryBytes: Int
    /// The machine's processors.
    let processors: Int
    /// Open files and connections, and how many there may be.
    let openFiles: Int
    let openFilesLimit: Int

    init() {
        let pages = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
        memoryBytes = Self.groupLimit.map { min($0, pages) } ?? pages
        processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        let hasLimit = getrlimit(resource, &limit) == 0
        openFilesLimit = hasLimit ? Int(clamping: limit.rlim_cur) : 0
        openFiles = Self.openFiles()
    }

    /// The limit of the process's control group; nil without one.
    private static var groupLimit: Int? {
        // Version 2 has one hierarchy; in a container the group is its root.
        let group = firstLine(of: "/proc/self/cgroup").flatMap { line in
            line.hasPrefix("0::/") ? String(line.dropFirst(3)) : nil
        }
        return [
            "/sys/fs/cgroup\(group ?? "")/memory.max", "/sys/fs/cgroup/memory.max",
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        ]
        .lazy.compactMap(firstLine).compactMap { Int($0) }.first
    }

    /// The beginning of a file's first line, 511 bytes at most; nil if there is no such file.
    static func firstLine(of path: String) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 512)
        guard fgets(&line, Int32(line.count), file) != nil else { return nil }
        return String(
            decoding: line.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init(bitPattern:)),
            as: UTF8.self)
    }

    private static func openFiles() -> Int {
        guard let folder = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        // The entries of the folder itself and of the one above it, and the descriptor that reads it.
        return count - 3
    }
}
