/// Names that programs of users may contain. They are only ever added to: what is here has to be there as
/// long as `docs/compatibility.md` promises.
enum PublishedNames {
    static let methods = """
        server.info server.ping server.stats server.activity server.cancel server.route
        auth.login bucket.list bucket.count bucket.query bucket.explain bucket.clusters
        bucket.fields bucket.export bucket.delete bucket.deleteWhere object.create
        object.put object.patch object.get object.delete object.putMany watch.start
        watch.move watch.sync watch.stop store.check store.backup store.compact
        """

    static let errors = """
        INVALID_INPUT_DATA QUERY_NOT_SUPPORTED INVALID_BUCKET INVALID_OBJECT_ID
        OBJECT_TOO_LARGE UNAUTHORIZED WRONG_TOKEN OPERATION_NOT_ALLOWED OBJECT_NOT_FOUND
        BUCKET_NOT_FOUND OBJECT_VERSION_IS_STALE OBJECT_ALREADY_EXISTS TOO_MANY_REQUESTS
        QUERY_TIMEOUT TEMPORARY_UNAVAILABLE_ERROR STORE_FULL UNDEFINED_ERROR
        INVALID_JSON INVALID_REQUEST LINE_TOO_LONG METHOD_NOT_FOUND QUOTA_EXCEEDED
        """

    static let metrics = """
        geobucket_audit_lost_lines_total geobucket_backup_bytes
        geobucket_backup_timestamp_seconds
        geobucket_backups_total geobucket_bucket_request_seconds_total
        geobucket_bucket_requests_total geobucket_buckets geobucket_build_info
        geobucket_certificate_end_timestamp_seconds
        geobucket_checkpoint_duration_seconds geobucket_cluster_applied_change
        geobucket_cluster_batches_total geobucket_cluster_head_change
        geobucket_cluster_held_buckets geobucket_cluster_lag_seconds
        geobucket_cluster_loading_buckets geobucket_cluster_loads_total
        geobucket_cluster_nodes geobucket_cluster_passed_on_requests_total
        geobucket_cluster_rebuilds_total geobucket_cluster_refused_buckets
        geobucket_cluster_releases_total geobucket_cluster_round_trip_seconds
        geobucket_cluster_skew_seconds geobucket_cluster_snapshot_seconds
        geobucket_cluster_snapshot_transactions geobucket_columns
        geobucket_commit_duration_seconds geobucket_commit_writes geobucket_connections
        geobucket_connections_accepted_total geobucket_connections_refused_total
        geobucket_disk_free_bytes geobucket_dropped_compactions_total
        geobucket_memory_bytes geobucket_objects geobucket_plans_total geobucket_points
        geobucket_publish_duration_seconds geobucket_quota_refusals_total
        geobucket_request_duration_seconds
        geobucket_request_errors_total geobucket_requests_total
        geobucket_slow_queries_total geobucket_store_bytes geobucket_store_free_pages
        geobucket_sync_duration_seconds geobucket_turn_processor_seconds
        geobucket_uptime_seconds geobucket_watch_events_total
        geobucket_watch_lag_changes geobucket_watch_lag_seconds
        geobucket_watch_matched_writes_total geobucket_watch_resyncs_total
        geobucket_watches geobucket_write_queue_depth process_cpu_seconds_total
        process_max_fds process_open_fds process_resident_memory_bytes
        process_start_time_seconds
        """

    /// The flags of each command, a line or more each, without those by which clients connect.
    static let flags = """
        serve: listen http store config log-level durability web tokens anonymous
        insecure audit-log quota tls-certificate tls-key memory backup-to
        backup-every backup-keep
        load: bucket on-error with-metadata format place point latitude longitude id
        id-field geometry crs underscores rename only without flatten keep-place-fields
        records mapping encoding separator decimal no-header text number boolean date
        empty nest key value cycles from rejects dry-run
        inspect: format place point latitude longitude id id-field geometry crs
        underscores rename only without flatten keep-place-fields records mapping
        encoding separator decimal no-header text number boolean date empty nest key
        value cycles all flags
        import-archive: bucket on-error with-metadata key map geopoint id value
        strip-underscores cut-references cycles file-bytes depth values object-values
        query: bucket near within box along width field where clause group-by min max
        sum avg fail-if-empty order-by limit fields all format explain
        count: bucket near within box along width field where clause fail-if-empty
        watch: bucket near within box along width field where clause center-object
        leave-within interval pairs pairs-within pairs-field pairs-where order-by limit
        fields format resume-file
        get:
        put: if-version expires if-absent
        patch: if-version expires
        delete: if-version
        delete-where: bucket near within box along width field where clause yes dry-run
        buckets: scope format
        drop: yes
        stats: once every
        info: format
        doctor: store
        compact:
        call: yes
        export: bucket format point place-as id-field with-metadata
        backup: store
        check: store
        migrate: from to postgres-schema
        cluster new-history: store postgres-schema
        token create: principal role group bucket days quota tokens
        token list: tokens
        token revoke: tokens
        loadtest: preset rate ramp search objective connections seconds warm-up patience
        bucket prepare mix field radius step watches watch-radius where centers seed web
        kii-app kii-key report json compare
        restore: force
        """
}
