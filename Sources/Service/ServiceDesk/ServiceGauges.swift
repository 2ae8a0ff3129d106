import BackendContract
import CoreMetrics
import LiveQueries

/// The service's gauges, and counters of what others count, which are set on demand.
struct ServiceGauges: Sendable {
    private let connections = Meter(label: "geobucket_connections")
    private let buckets = Meter(label: "geobucket_buckets")
    private let objects = Meter(label: "geobucket_objects")
    private let points = Meter(label: "geobucket_points")
    private let columns = Meter(label: "geobucket_columns")
    private let storeBytes = Meter(label: "geobucket_store_bytes")
    private let freePages = Meter(label: "geobucket_store_free_pages")
    private let diskFree = Meter(label: "geobucket_disk_free_bytes")
    private let waitingWrites = Meter(label: "geobucket_write_queue_depth")
    private let uptime = Meter(label: "geobucket_uptime_seconds")
    private let certificateEnd = Meter(label: "geobucket_certificate_end_timestamp_seconds")
    private let lostAuditLines = FollowingCounter(label: "geobucket_audit_lost_lines_total")
    private let quotaRefusals = FollowingCounter(label: "geobucket_quota_refusals_total")
    private let process = ProcessMetrics()
    private let watches = WatchGauges()
    private let cluster = ClusterGauges()
    private let memory = MemoryStatistics().parts.map { part in
        Meter(
            label: "geobucket_memory_bytes",
            dimensions: [("kind", "\(part.name)".replacing("Bytes", with: ""))])
    }

    /// - Parameter version: that of the program, which never changes.
    init(version: String) {
        Meter(label: "geobucket_build_info", dimensions: [("version", version)]).set(1)
    }

    /// - Parameter certificateEnd: in milliseconds since 1970; nil without TLS.
    func set(
        _ statistics: BackendStatistics, _ watches: WatchStatistics, openConnections: Int,
        passedOn: Int, uptimeSeconds: Int64, certificateEnd: Int64?, lostAuditLines: Int,
        quotaRefusals: Int
    ) {
        connections.set(openConnections)
        buckets.set(statistics.buckets)
        objects.set(statistics.objects)
        points.set(statistics.points)
        columns.set(statistics.columns)
        storeBytes.set(statistics.storeBytes)
        freePages.set(statistics.freePages)
        diskFree.set(statistics.diskFreeBytes)
        waitingWrites.set(statistics.waitingWrites)
        uptime.set(uptimeSeconds)
        self.lostAuditLines.follow(lostAuditLines)
        self.quotaRefusals.follow(quotaRefusals)
        process.set()
        self.certificateEnd.set(Double(certificateEnd ?? 0) / 1e3)
        self.watches.set(watches)
        if let statistics = statistics.cluster { cluster.set(statistics, passedOn: passedOn) }
        for (meter, part) in zip(memory, statistics.memory.parts) { meter.set(part.bytes) }
    }
}

/// The gauges and counters of the watches.
private struct WatchGauges: Sendable {
    private let watches = Meter(label: "geobucket_watches")
    private let events = FollowingCounter(label: "geobucket_watch_events_total")
    private let matchedWrites = FollowingCounter(label: "geobucket_watch_matched_writes_total")
    private let resyncs = FollowingCounter(label: "geobucket_watch_resyncs_total")
    private let changesBehind = Meter(label: "geobucket_watch_lag_changes")
    private let lag = Meter(label: "geobucket_watch_lag_seconds")

    func set(_ statistics: WatchStatistics) {
        watches.set(statistics.watches)
        events.follow(statistics.events)
        matchedWrites.follow(statistics.matchedWrites)
        resyncs.follow(statistics.resyncs)
        changesBehind.set(Int64(statistics.changesBehind))
        lag.set(Double(statistics.millisecondsBehind) / 1e3)
    }
}

/// The gauges and counters of a node.
private struct ClusterGauges: Sendable {
    private let applied = Meter(label: "geobucket_cluster_applied_change")
    private let head = Meter(label: "geobucket_cluster_head_change")
    private let lag = Meter(label: "geobucket_cluster_lag_seconds")
    private let roundTrip = Meter(label: "geobucket_cluster_round_trip_seconds")
    private let batches = FollowingCounter(label: "geobucket_cluster_batches_total")
    private let rebuilds = FollowingCounter(label: "geobucket_cluster_rebuilds_total")
    private let skew = Meter(label: "geobucket_cluster_skew_seconds")
    private let snapshotAge = Meter(label: "geobucket_cluster_snapshot_seconds")
    private let snapshotTransactions = Meter(label: "geobucket_cluster_snapshot_transactions")
    private let share = ShareGauges()

    func set(_ statistics: ClusterStatistics, passedOn: Int) {
        if let statistics = statistics.share { share.set(statistics, passedOn: passedOn) }
        applied.set(Int64(statistics.applied))
        head.set(Int64(statistics.head))
        lag.set(Double(statistics.lagMilliseconds) / 1e3)
        roundTrip.set(Double(statistics.roundTripMicroseconds) / 1e6)
        batches.follow(statistics.batches)
        rebuilds.follow(statistics.rebuilds)
        skew.set(Double(statistics.skewMilliseconds) / 1e3)
        snapshotAge.set(Double(statistics.snapshotMilliseconds) / 1e3)
        snapshotTransactions.set(statistics.snapshotTransactions)
    }
}

/// The gauges and counters of a node that holds a part of the buckets.
private struct ShareGauges: Sendable {
    private let nodes = Meter(label: "geobucket_cluster_nodes")
    private let held = Meter(label: "geobucket_cluster_held_buckets")
    private let loading = Meter(label: "geobucket_cluster_loading_buckets")
    private let refused = Meter(label: "geobucket_cluster_refused_buckets")
    private let loads = FollowingCounter(label: "geobucket_cluster_loads_total")
    private let releases = FollowingCounter(label: "geobucket_cluster_releases_total")
    private let passedOn = FollowingCounter(label: "geobucket_cluster_passed_on_requests_total")

    func set(_ statistics: ShareStatistics, passedOn: Int) {
        nodes.set(statistics.nodes)
        held.set(statistics.held)
        loading.set(statistics.loading)
        refused.set(statistics.refused)
        loads.follow(statistics.loads)
        releases.follow(statistics.releases)
        self.passedOn.follow(passedOn)
    }
}
