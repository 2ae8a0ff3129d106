import Interchange
import LoadTest

/// What a service does, as lines for a terminal: since the sample before, or since its start.
struct StatsScreen {
    private let before: ServiceSample?
    private let now: ServiceSample
    /// How many costly reads are shown.
    private static let shownReads = 10

    /// - Parameter before: nil for everything since the start of the service. One of a process that
    ///   has ended since counts as none.
    init(_ now: ServiceSample, since before: ServiceSample?) {
        self.now = now
        let isSame = (before?["uptimeSeconds"] ?? 0) <= now["uptimeSeconds"]
        self.before = isSame ? before : nil
    }

    /// The seconds that the numbers are about.
    private var seconds: Double {
        max(before.map { now.moment - $0.moment } ?? now["uptimeSeconds"], 0.001)
    }

    private func rate(_ count: Int) -> String {
        Figures.number(Double(count) / seconds, decimals: 1) + "/s"
    }

    /// A number of things: `1 object`, `6,179 objects`.
    private func number(_ path: String, _ noun: String) -> String {
        let count = now.int(path)
        return "\(Figures.count(count)) \(noun)\(count == 1 ? "" : "s")"
    }

    private func change(_ path: String) -> Double { now[path] - (before?[path] ?? 0) }

    var lines: [String] {
        let parts = [summary, methods, buckets, running].filter { !$0.isEmpty }
        return Array(parts.joined(separator: [""]))
    }

    private var summary: [String] {
        let methods = now.since(before)
        let (requests, errors) = methods.reduce((0, 0)) { ($0.0 + $1.count, $0.1 + $1.errors) }
        let share = change("cpuSeconds") / seconds
        var lines = [
            "up \(Amounts.duration(seconds: now.int("uptimeSeconds"))), "
                + "\(Figures.number(share * 100, decimals: 0)) % of a processor",
            "requests     \(rate(requests)), \(rate(errors)) with errors, "
                + "\(Figures.count(now.int("slowQueries"))) slow since the start",
            "connections  \(Figures.count(now.int("connections.open"))) open, "
                + "\(Figures.count(now.int("connections.refused"))) refused since the start",
            "watches      \(Figures.count(now.int("watches.watches"))), "
                + "\(rate(Int(change("watches.events")))) events, "
                + "\(Figures.count(now.int("watches.changesBehind"))) changes behind",
            "stored       \(number("objects", "object")) with \(number("points", "point")) in "
                + "\(number("buckets", "bucket")), \(rate(Int(change("commits")))) commits",
            "memory       \(Amounts.bytes(now.int("memory.residentBytes"))) of "
                + Amounts.bytes(now.int("host.memoryBytes")),
            "disk         \(Amounts.bytes(now.int("storeBytes"))) stored, "
                + "\(Amounts.bytes(now.int("freePages") * 4_096)) of it free; "
                + "\(Amounts.bytes(now.int("host.diskFreeBytes"))) free beside it",
        ]
        if now.numbers["cluster.applied"] != nil {
            lines.append(
                "cluster      \(Figures.count(now.int("cluster.lagMilliseconds"))) ms behind, "
                    + "\(Amounts.time(microseconds: now["cluster.roundTripMicroseconds"])) to PostgreSQL"
            )
        }
        return lines
    }

    private var methods: [String] {
        var table = TextTable(["method", "requests", "errors", "p50", "p99", "mean"])
        let used = now.since(before).filter { $0.count > 0 }.sorted { $0.count > $1.count }
        for method in used {
            func percentile(_ share: Double) -> String {
                method.percentile(share).map { "≤ " + Amounts.time(microseconds: Double($0)) } ?? ""
            }
            table.add([
                method.name, rate(method.count), Figures.count(method.errors), percentile(0.5),
                percentile(0.99),
                Amounts.time(microseconds: Double(method.microseconds) / Double(method.count)),
            ])
        }
        return used.isEmpty ? [] : table.lines
    }

    private var buckets: [String] {
        var table = TextTable(["busiest buckets", "requests", "time"])
        let former = Dictionary(
            (before?.busiest ?? []).map { ($0.bucket, $0) }, uniquingKeysWith: { $1 })
        let used = now.busiest.map { busy in
            (
                bucket: busy.bucket, requests: busy.requests - (former[busy.bucket]?.requests ?? 0),
                microseconds: busy.microseconds - (former[busy.bucket]?.microseconds ?? 0)
            )
        }.filter { $0.requests > 0 }.sorted { $0.microseconds > $1.microseconds }
        for busy in used {
            let share = Double(busy.microseconds) / 1e6 / seconds
            table.add([
                busy.bucket, rate(busy.requests), "\(Figures.number(share, decimals: 2)) s/s",
            ])
        }
        return used.isEmpty ? [] : table.lines
    }

    private var running: [String] {
        guard !now.running.isEmpty else { return [] }
        let head =
            "runs now (\(now.running.count)); `geobucket call server.cancel '{\"id\":ID}'` ends one"
        return [head]
            + now.running.prefix(Self.shownReads).map { read in
                let time = Amounts.time(microseconds: Double(read.milliseconds) * 1_000)
                return
                    "  \(read.id)  \(time)  \(read.method) \(read.bucket)  \(read.principal)  \(read.plan)"
            }
    }
}

extension TextTable {
    fileprivate var lines: [String] {
        text.split(separator: "\n", omittingEmptySubsequences: true).map(String.init)
    }
}
