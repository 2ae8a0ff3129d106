import CoreMetrics
import HTTPGateway
import Testing

@Suite struct PrometheusTests {
    @Test("counters, gauges and distributions as Prometheus reads them")
    func text() {
        let registry = PrometheusRegistry()
        let requests = Counter(
            label: "geobucket_requests_total", dimensions: [("method", "bucket.query")],
            factory: registry)
        requests.increment(by: 41)
        // The same series by another handler.
        Counter(
            label: "geobucket_requests_total", dimensions: [("method", "bucket.query")],
            factory: registry
        ).increment()
        Meter(
            label: "geobucket_memory_bytes", dimensions: [("kind", "a\"b\\c\nd")], factory: registry
        )
        .set(1.5)
        let writes = Recorder(label: "geobucket_commit_writes", factory: registry)
        for size in [1, 2, 3, 64, 9_000] { writes.record(size) }
        #expect(
            registry.text() == """
                # HELP geobucket_commit_writes Writes that were committed together.
                # TYPE geobucket_commit_writes histogram
                geobucket_commit_writes_bucket{le="1"} 1
                geobucket_commit_writes_bucket{le="2"} 2
                geobucket_commit_writes_bucket{le="4"} 3
                geobucket_commit_writes_bucket{le="8"} 3
                geobucket_commit_writes_bucket{le="16"} 3
                geobucket_commit_writes_bucket{le="32"} 3
                geobucket_commit_writes_bucket{le="64"} 4
                geobucket_commit_writes_bucket{le="128"} 4
                geobucket_commit_writes_bucket{le="256"} 4
                geobucket_commit_writes_bucket{le="512"} 4
                geobucket_commit_writes_bucket{le="1024"} 4
                geobucket_commit_writes_bucket{le="2048"} 4
                geobucket_commit_writes_bucket{le="4096"} 4
                geobucket_commit_writes_bucket{le="+Inf"} 5
                geobucket_commit_writes_sum 9070
                geobucket_commit_writes_count 5
                # HELP geobucket_memory_bytes Memory by what it is used for, counted.
                # TYPE geobucket_memory_bytes gauge
                geobucket_memory_bytes{kind="a\\"b\\\\c\\nd"} 1.5
                # HELP geobucket_requests_total Requests that were answered.
                # TYPE geobucket_requests_total counter
                geobucket_requests_total{method="bucket.query"} 42

                """)
    }

    @Test("a duration is counted in seconds, in the first bucket that holds it")
    func durations() {
        let registry = PrometheusRegistry()
        let timer = Timer(label: "geobucket_request_duration_seconds", factory: registry)
        timer.recordNanoseconds(100_000)
        timer.recordNanoseconds(100_001)
        let text = registry.text()
        #expect(text.contains("_bucket{le=\"0.0001\"} 1\n"))
        #expect(text.contains("_bucket{le=\"0.00025\"} 2\n"))
        #expect(text.contains("_count 2\n"))
    }

    @Test("every metric has a help text, and names follow Prometheus' conventions")
    func names() {
        let units = ["_total", "_seconds", "_bytes", "_info", "_fds"]
        for (name, help) in MetricCatalogue.metrics {
            #expect(help.hasSuffix("."), "\(name)")
            #expect(name.hasPrefix("geobucket_") || name.hasPrefix("process_"), "\(name)")
            #expect(name.allSatisfy { $0.isLowercase || $0 == "_" }, "\(name)")
            // What has no unit is a count of things.
            let counts = [
                "buckets", "objects", "points", "columns", "connections", "commit_writes",
                "queue_depth", "change", "nodes", "watches", "changes", "transactions", "pages",
            ]
            #expect(units.contains(where: name.hasSuffix) || counts.contains(where: name.hasSuffix))
        }
        #expect(MetricCatalogue.metrics.map(\.name) == MetricCatalogue.metrics.map(\.name).sorted())
    }
}
