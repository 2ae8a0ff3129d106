import CoreMetrics
import HTTPGateway
import Runtime
import Testing

@testable import ServiceDesk

/// The kinds of series, by what programs do with them.
@Suite struct SeriesTests {
    /// The samples of all series, without help and type.
    private static func samples(_ registry: PrometheusRegistry) -> [String] {
        registry.text().split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
    }

    @Test func `A gauge goes up and down from where it was set`() {
        let registry = PrometheusRegistry()
        let meter = Meter(label: "level", factory: registry)
        meter.increment(by: 2.5)
        #expect(Self.samples(registry) == ["level 2.5"])
        meter.set(10)
        meter.decrement(by: 0.5)
        meter.increment()
        #expect(Self.samples(registry) == ["level 10.5"])
        meter.decrement(by: 11)
        #expect(Self.samples(registry) == ["level -0.5"])
        #expect(registry.text() == "# TYPE level gauge\nlevel -0.5\n")
    }

    @Test func `A recorder that does not aggregate tells the last value`() {
        let registry = PrometheusRegistry()
        let recorder = Recorder(label: "last", aggregate: false, factory: registry)
        for value in [3, 9, 7] { recorder.record(value) }
        #expect(Self.samples(registry) == ["last 7"])
        recorder.record(0.25)
        #expect(registry.text() == "# TYPE last gauge\nlast 0.25\n")
    }

    @Test func `A counter begins anew when it is reset, and not when nobody holds it any more`() {
        let registry = PrometheusRegistry()
        let counter = Counter(label: "seen_total", factory: registry)
        counter.increment(by: 5)
        counter.destroy()
        #expect(Self.samples(registry) == ["seen_total 5"])
        Counter(label: "seen_total", factory: registry).increment()
        #expect(Self.samples(registry) == ["seen_total 6"])
        counter.reset()
        #expect(Self.samples(registry) == ["seen_total 0"])
        let (meter, timer) = (
            Meter(label: "level", factory: registry), Timer(label: "took", factory: registry)
        )
        meter.set(1)
        timer.recordNanoseconds(1)
        let before = registry.text()
        meter.destroy()
        timer.destroy()
        #expect(registry.text() == before)
    }

    @Test func `A counter of what others count follows their number, and never falls`() {
        let registry = PrometheusRegistry()
        let events = FollowingCounter(label: "events_total", factory: registry)
        #expect(registry.text() == "# TYPE events_total counter\nevents_total 0\n")
        for number in [3, 10, 7, 12, 12] { events.follow(number) }
        #expect(Self.samples(registry) == ["events_total 12"])
        let time = FollowingSeconds(label: "time_seconds_total", factory: registry)
        for microseconds in [250_000, 1_750_000, 1_500_000] as [Int64] {
            time.follow(microseconds: microseconds)
        }
        #expect(Self.samples(registry) == ["events_total 12", "time_seconds_total 1.75"])
        #expect(registry.text().contains("# TYPE time_seconds_total counter\n"))
    }

    @Test func `Counters with labels that come and go are replaced together`() {
        let registry = PrometheusRegistry()
        for names in [["a", "b"], ["b", "c\""]] {
            registry.replaceCounters(
                named: "asked_total", by: names.map { ([("bucket", $0)], 2.5) })
        }
        #expect(
            registry.text() == """
                # TYPE asked_total counter
                asked_total{bucket="b"} 2.5
                asked_total{bucket="c\\""} 2.5

                """)
        registry.replaceCounters(named: "asked_total", by: [])
        #expect(Self.samples(registry) == [])
    }

    @Test func `The process began before now, and not before its machine`() {
        let start = ProcessMetrics.startSeconds
        let now = Double(wallMilliseconds()) / 1e3
        #expect(start <= now + 1 && start > now - 86_400, "\(start) and now \(now)")
    }

    @Test func `Series of one name stand together, sorted by their labels, under one type`() {
        let registry = PrometheusRegistry()
        for (name, labels) in [
            ("b_total", [("k", "2")]), ("a_total", []), ("b_total", [("k", "1"), ("l", "x")]),
            ("b_total", []), ("b_total", [("k", "10")]),
        ] as [(String, [(String, String)])] {
            Counter(label: name, dimensions: labels, factory: registry).increment()
        }
        #expect(
            registry.text() == """
                # TYPE a_total counter
                a_total 1
                # TYPE b_total counter
                b_total 1
                b_total{k="1",l="x"} 1
                b_total{k="10"} 1
                b_total{k="2"} 1

                """)
    }

    @Test func `The buckets of a histogram add up, whatever is recorded in whatever order`() {
        let values: [Double] = [-1, 0, 1, 1.5, 2, 2.1, 4_095, 4_096, 4_097, 1e12]
        for rotation in values.indices {
            let registry = PrometheusRegistry()
            let recorder = Recorder(label: "geobucket_commit_writes", factory: registry)
            for value in values[rotation...] + values[..<rotation] { recorder.record(value) }
            for line in Self.samples(registry) {
                let (name, told) = (line.split(separator: " ")[0], line.split(separator: " ")[1])
                if name.hasSuffix("_sum") {
                    #expect(Double(told) == values.reduce(0, +))
                } else if name.hasSuffix("_count") || name.contains("+Inf") {
                    #expect(told == "\(values.count)")
                } else {
                    let bound = Double(name.split(separator: "\"")[1])!
                    #expect(told == "\(values.count { $0 <= bound })", "\(line)")
                }
            }
        }
    }
}
