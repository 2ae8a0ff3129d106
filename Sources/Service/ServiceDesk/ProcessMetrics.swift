import CoreMetrics
import Glibc

/// What every process tells Prometheus, by the names that its client libraries give it.
///
/// - Reference: Prometheus, "Writing client libraries", process metrics.
struct ProcessMetrics: Sendable {
    private let processor = FollowingSeconds(label: "process_cpu_seconds_total")
    private let resident = Meter(label: "process_resident_memory_bytes")
    private let openFiles = Meter(label: "process_open_fds")
    private let mostFiles = Meter(label: "process_max_fds")
    private let start = Meter(label: "process_start_time_seconds")

    /// Sets them to the present values.
    func set() {
        let host = HostStatistics()
        processor.follow(microseconds: processorMicroseconds())
        resident.set(residentBytes())
        openFiles.set(host.openFiles)
        mostFiles.set(host.openFilesLimit)
        start.set(Self.startSeconds)
    }

    /// When the process began, in seconds since 1970; 0 where Linux does not tell it.
    static let startSeconds: Double = {
        // The name of the program comes second, in parentheses, and may have any character.
        guard let line = HostStatistics.firstLine(of: "/proc/self/stat"),
            let end = line.lastIndex(of: ")")
        else { return 0 }
        let fields = line[end...].split(separator: " ")
        // Field 22 of proc(5), of which 3 is the first behind the name.
        guard fields.count > 20, let ticks = Double(fields[20]), let boot = bootSeconds else {
            return 0
        }
        return boot + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }()

    /// When the machine began, in seconds since 1970.
    private static var bootSeconds: Double? {
        var (wall, sinceBoot) = (timespec(), timespec())
        guard clock_gettime(CLOCK_REALTIME, &wall) == 0,
            clock_gettime(CLOCK_BOOTTIME, &sinceBoot) == 0
        else { return nil }
        return Double(wall.tv_sec - sinceBoot.tv_sec)
            + Double(wall.tv_nsec - sinceBoot.tv_nsec) / 1e9
    }
}
