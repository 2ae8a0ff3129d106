/// The service's metrics: their help texts and the bounds of the histograms.
public enum MetricCatalogue {
    /// Every metric by its name, with its help text.
    public static let metrics: [(name: String, help: String)] = [
        ("geobucket_audit_lost_lines_total", "Lines of the audit log that were not written."),
        ("geobucket_backup_bytes", "Bytes of the newest backup that the service has made."),
        (
            "geobucket_backup_timestamp_seconds",
            "When the newest backup was begun that the service has made, since 1970; 0 without one."
        ),
        ("geobucket_backups_total", "Backups that the service has made, or failed to make."),
        (
            "geobucket_bucket_request_seconds_total",
            "How long answers of the busiest buckets took together, while each was among them."
        ),
        (
            "geobucket_bucket_requests_total",
            "Requests of the busiest buckets, counted while each was among them."
        ),
        ("geobucket_buckets", "Buckets that have an object or had one."),
        ("geobucket_build_info", "1, with the version of the program as a label."),
        (
            "geobucket_certificate_end_timestamp_seconds",
            "When the certificate in use ends, since 1970; 0 without TLS."
        ),
        ("geobucket_checkpoint_duration_seconds", "How long checkpoints of the store took."),
        (
            "geobucket_cluster_applied_change",
            "The number of the last change of the shared store that this node has applied."
        ),
        (
            "geobucket_cluster_batches_total",
            "Transactions that this node has committed to the shared store."
        ),
        (
            "geobucket_cluster_head_change",
            "The number of the last change that the shared store was seen to have."
        ),
        ("geobucket_cluster_held_buckets", "Buckets that this node answers for."),
        (
            "geobucket_cluster_lag_seconds",
            "For how long this node may have lacked something that the shared store has."
        ),
        (
            "geobucket_cluster_loading_buckets",
            "Buckets that this node is to hold and has not loaded yet."
        ),
        ("geobucket_cluster_loads_total", "How often this node has loaded a bucket."),
        ("geobucket_cluster_nodes", "Nodes that share the buckets and are alive."),
        (
            "geobucket_cluster_passed_on_requests_total",
            "Requests that this node has passed on to nodes that hold their buckets."
        ),
        (
            "geobucket_cluster_rebuilds_total",
            "How often this node has thrown away its state because the shared store had lost it."
        ),
        (
            "geobucket_cluster_refused_buckets",
            "Buckets that this node ought to hold and that do not fit."
        ),
        (
            "geobucket_cluster_releases_total",
            "How often this node has let go of a bucket."
        ),
        (
            "geobucket_cluster_round_trip_seconds",
            "The time of the last question to the shared store and its answer."
        ),
        (
            "geobucket_cluster_skew_seconds",
            "How far this node's clock is ahead of the shared store's."
        ),
        (
            "geobucket_cluster_snapshot_seconds",
            "For how long the oldest snapshot of the shared store is open."
        ),
        (
            "geobucket_cluster_snapshot_transactions",
            "Transactions of the shared store since its oldest snapshot."
        ),
        ("geobucket_columns", "Fields kept as typed values in memory, of all buckets."),
        (
            "geobucket_commit_duration_seconds",
            "How long transactions took, from their first write to durable."
        ),
        ("geobucket_commit_writes", "Writes that were committed together."),
        ("geobucket_connections", "Connections that are open."),
        ("geobucket_connections_accepted_total", "Connections that were accepted."),
        ("geobucket_connections_refused_total", "Connections that a limit refused."),
        ("geobucket_disk_free_bytes", "Bytes that are free on the disk of the store."),
        (
            "geobucket_dropped_compactions_total",
            "Compactions whose result was dropped because objects were missing in it."
        ),
        ("geobucket_memory_bytes", "Memory by what it is used for, counted."),
        ("geobucket_objects", "Objects in all buckets."),
        ("geobucket_plans_total", "Queries and counts by the access path they took."),
        ("geobucket_points", "Points in the spatial indexes."),
        (
            "geobucket_publish_duration_seconds",
            "How long the writer took to make writes or background work visible in memory."
        ),
        ("geobucket_quota_refusals_total", "Writes that the quota of a scope refused."),
        (
            "geobucket_request_duration_seconds",
            "How long answers took, from the request's turn on its connection."
        ),
        ("geobucket_request_errors_total", "Requests that were answered with an error."),
        ("geobucket_requests_total", "Requests that were answered."),
        ("geobucket_slow_queries_total", "Reads that took longer than is called slow."),
        ("geobucket_store_bytes", "Bytes of the store's files."),
        ("geobucket_store_free_pages", "Pages of the store's file that hold nothing."),
        (
            "geobucket_sync_duration_seconds",
            "How long the ends of transactions took, which write the log and sync it."
        ),
        (
            "geobucket_turn_processor_seconds",
            "Processor time for which others waited: the turns of event loops and of the writer."
        ),
        ("geobucket_uptime_seconds", "Seconds since the service started."),
        ("geobucket_watch_events_total", "Events that were sent to watches."),
        ("geobucket_watch_lag_changes", "Changes that watches have not been told yet."),
        (
            "geobucket_watch_lag_seconds",
            "For how long the oldest of these changes has waited."
        ),
        ("geobucket_watch_matched_writes_total", "Writes that concerned at least one watch."),
        ("geobucket_watch_resyncs_total", "How often a watch began anew with a snapshot."),
        ("geobucket_watches", "Watches of all connections."),
        ("geobucket_write_queue_depth", "Writes that wait to be committed."),
        ("process_cpu_seconds_total", "Processor time of the process."),
        ("process_max_fds", "Files and connections that the process may have open."),
        ("process_open_fds", "Files and connections that the process has open."),
        ("process_resident_memory_bytes", "Bytes of the process that are in memory."),
        ("process_start_time_seconds", "When the process began, since 1970."),
    ]

    private static let helps = Dictionary(
        uniqueKeysWithValues: metrics.map { ($0.name, $0.help) })

    static func help(of name: String) -> String? { helps[name] }

    /// From 50 microseconds to 10 seconds, in factors of 2 or 2.5.
    private static let seconds = [
        0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
        1, 2.5, 5, 10,
    ]

    /// Powers of two.
    private static let sizes = (0...12).map { Double(1 << $0) }

    /// To 10 seconds, in factors of 2 or 2.5, with the longest turns of an event loop and of the
    /// writer among them.
    private static let turns = [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
        10,
    ]

    static func bounds(of name: String) -> [Double] {
        if name == "geobucket_turn_processor_seconds" { return turns }
        return name.hasSuffix("_seconds") ? seconds : sizes
    }
}
