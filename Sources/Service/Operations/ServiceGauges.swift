import Backend
import CoreMetrics

/// The service's gauges, which are set on demand.
struct ServiceGauges: Sendable {
    private let connections = Meter(label: "geobucket_connections")
    private let buckets = Meter(label: "geobucket_buckets")
    private let objects = Meter(label: "geobucket_objects")
    private let points = Meter(label: "geobucket_points")
    private let columns = Meter(label: "geobucket_columns")
    private let storeBytes = Meter(label: "geobucket_store_bytes")
    private let waitingWrites = Meter(label: "geobucket_write_queue_depth")
    private let uptime = Meter(label: "geobucket_uptime_seconds")
    private let resident = Meter(label: "process_resident_memory_bytes")
    private let cluster = ClusterStatistics().parts.map { part in
        Meter(label: "geobucket_cluster_\(part.name)".snakeCased)
    }
    private let memory = MemoryStatistics().parts.map { part in
        Meter(
            label: "geobucket_memory_bytes",
            dimensions: [("kind", "\(part.name)".replacing("Bytes", with: ""))])
    }

    func set(_ statistics: BackendStatistics, openConnections: Int, uptimeSeconds: Int64) {
        connections.set(openConnections)
        buckets.set(statistics.buckets)
        objects.set(statistics.objects)
        points.set(statistics.points)
        columns.set(statistics.columns)
        storeBytes.set(statistics.storeBytes)
        waitingWrites.set(statistics.waitingWrites)
        uptime.set(uptimeSeconds)
        resident.set(residentBytes())
        for (meter, part) in zip(cluster, statistics.cluster?.parts ?? []) {
            meter.set(part.value)
        }
        for (meter, part) in zip(memory, statistics.memory.parts) { meter.set(part.bytes) }
    }
}

extension String {
    /// `lag_milliseconds` for `lagMilliseconds`.
    fileprivate var snakeCased: String {
        map { $0.isUppercase ? "_\($0.lowercased())" : "\($0)" }.joined()
    }
}
