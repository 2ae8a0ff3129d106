import LoadTest
import Objects

/// What an operator would say of a service: what is wrong with it, or will be.
struct Diagnosis {
    let sample: ServiceSample
    /// Connections that the service takes at once.
    let connectionLimit: Int
    /// How far the service's clock is ahead of this machine's, in milliseconds.
    let clockAhead: Double
    /// The present time of this machine, in milliseconds since 1970.
    let now: Double

    /// Sentences, none if everything is well.
    var findings: [String] {
        [
            disk, pages, files, refusals, memory, clock, certificate, scans, slowness, watches, lag,
            skew, snapshot, refusedBuckets,
        ].compactMap(\.self)
    }

    private static let gibibyte = 1_073_741_824.0

    private func bytes(_ path: String) -> String { Amounts.bytes(sample.int(path)) }

    private var disk: String? {
        let (free, all) = (sample["host.diskFreeBytes"], sample["host.diskBytes"])
        guard all > 0 else { return nil }
        let left =
            "\(bytes("host.diskFreeBytes")) of \(bytes("host.diskBytes")) are free on its disk"
        if free < Self.gibibyte || free < all / 20 {
            return "\(left): when it is full, writes are refused with STORE_FULL"
        }
        guard free < sample["storeBytes"] else { return nil }
        return
            "\(left), less than the store has (\(bytes("storeBytes"))): a copy does not fit there"
    }

    private var pages: String? {
        let free = sample["freePages"] * 4_096
        guard free > Self.gibibyte / 16, free > sample["storeBytes"] / 4 else { return nil }
        return "\(Amounts.bytes(Int(free))) of the store's \(bytes("storeBytes")) are free pages; "
            + "`geobucket compact` gives them back"
    }

    private var files: String? {
        let (open, limit) = (sample.int("host.openFiles"), sample.int("host.openFilesLimit"))
        guard limit > 0 else { return nil }
        if open > limit * 4 / 5 {
            return "\(Figures.count(open)) of \(Figures.count(limit)) files are open, connections "
                + "among them: raise the limit (ulimit -n, LimitNOFILE)"
        }
        guard connectionLimit + 64 > limit else { return nil }
        return "it takes \(Figures.count(connectionLimit)) connections, and may have "
            + "\(Figures.count(limit)) open files: raise the limit (ulimit -n, LimitNOFILE)"
    }

    private var refusals: String? {
        let refused = sample.int("connections.refused")
        guard refused > 0 else { return nil }
        return
            "connections refused since the start: \(Figures.count(refused)); see --connections and "
            + "--connections-per-address"
    }

    private var memory: String? {
        let (used, all) = (sample["memory.residentBytes"], sample["host.memoryBytes"])
        let objects = sample["objects"]
        guard all > 0, used > all / 2 else { return nil }
        let share = Figures.percent((used / all * 100).rounded() / 100)
        let base =
            "\(bytes("memory.residentBytes")) of \(bytes("host.memoryBytes")) of memory are in use (\(share))"
        guard objects > 0 else { return base }
        let each = used / objects
        return "\(base): at \(Amounts.bytes(Int(each))) for each object, some "
            + "\(Figures.count(Int(max(all * 0.9 - used, 0) / each))) more fit"
    }

    private var clock: String? {
        guard abs(clockAhead) > 2_000 else { return nil }
        let text = Amounts.time(microseconds: abs(clockAhead) * 1_000)
        return "its clock is \(text) \(clockAhead > 0 ? "ahead of" : "behind") this machine's: "
            + "times of objects, expiry and tokens depend on it"
    }

    private var certificate: String? {
        guard let end = sample.numbers["host.certificateEnd"] else { return nil }
        let left = Int((end - now) / 1_000)
        if left <= 0 { return "its certificate has ended: clients refuse to connect" }
        guard left < 30 * 86_400 else { return nil }
        return
            "its certificate ends in \(Amounts.duration(seconds: left)): renew it, and send SIGHUP"
    }

    private var scans: String? {
        let reads = sample.methods.filter { ["bucket.query", "bucket.count"].contains($0.name) }
            .reduce(0) { $0 + $1.count }
        let scans = sample.int("scans")
        guard scans >= 100, scans * 20 > reads else { return nil }
        return
            "\(Figures.count(scans)) of \(Figures.count(reads)) queries and counts went through a "
            + "whole bucket: `--explain` tells which field wants a column, and --memory or "
            + "--bucket-columns what room there is"
    }

    private var slowness: String? {
        let slow = sample.int("slowQueries")
        guard slow > 0 else { return nil }
        return "slow queries since the start: \(Figures.count(slow)); the log has their plans"
    }

    private var watches: String? {
        let (changes, late) = (
            sample.int("watches.changesBehind"), sample["watches.millisecondsBehind"]
        )
        guard late > 1_000 else { return nil }
        return "watches are \(counted(changes, "change")) and "
            + "\(Amounts.time(microseconds: late * 1_000)) behind"
    }

    private var lag: String? {
        let lag = sample["cluster.lagMilliseconds"]
        guard lag > 1_000 else { return nil }
        return "the node is \(Amounts.time(microseconds: lag * 1_000)) behind PostgreSQL"
    }

    private var skew: String? {
        let skew = sample["cluster.skewMilliseconds"]
        guard abs(skew) > 2_000 else { return nil }
        let text = Amounts.time(microseconds: abs(skew) * 1_000)
        return "its clock is \(text) \(skew > 0 ? "ahead of" : "behind") PostgreSQL's"
    }

    private var snapshot: String? {
        let age = sample["cluster.snapshotMilliseconds"]
        guard age > 3_600_000 else { return nil }
        return
            "a snapshot of PostgreSQL is open for \(Amounts.duration(seconds: Int(age / 1_000))): "
            + "it keeps deleted rows, and nodes have to look at them"
    }

    private var refusedBuckets: String? {
        let refused = sample.int("cluster.refusedBuckets")
        guard refused > 0 else { return nil }
        return "buckets that do not fit the node's memory (--held-bytes): \(Figures.count(refused))"
    }
}
