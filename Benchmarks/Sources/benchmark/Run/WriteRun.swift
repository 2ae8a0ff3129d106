import Foundation
import JSONText
import SyntheticData
import Workloads

/// Writes alone: loading in bulk, durable updates of single objects beside raw SQLite, reads under both.
struct WriteRun {
    /// One side of the comparison.
    struct Updates {
        var perSecond: [Double] = []
        var p50: [Double] = []
        var p99: [Double] = []
    }

    /// Objects a second, each time into a new store.
    private(set) var loads: [Double] = []
    private(set) var service = Updates()
    /// SQLite alone, its log kept as the service keeps it, and as it does of itself.
    private(set) var raw = Updates()
    private(set) var rawByDefault = Updates()
    private(set) var groups: [Double] = []
    private(set) var readsAlone: [Double] = []
    private(set) var readsBeside: [Double] = []
    private let settings: Settings
    private let dataset: Dataset

    /// Connections that update, connections that read, objects of one putMany.
    private static let (writers, readers, batch) = (64, 16, 1_000)
    /// Connections that load.
    private static let loaders = 4

    init(_ settings: Settings) throws {
        self.settings = settings
        dataset = .clustered(objects: settings.objects, seed: settings.seed)
        let workspace = Workspace(folder: settings.scratch, geobucket: settings.geobucket)
        let server = try loaded(workspace)
        defer { server.stop() }
        for round in 1...settings.rounds {
            progress("round \(round) of \(settings.rounds): updates, reads, both")
            try update(server)
            try read(server)
            server.stop()
            progress("round \(round) of \(settings.rounds): raw SQLite")
            let copy = settings.scratch + "/raw.sqlite"
            if round == 1 { try RawUpdates.copy(server.storePath, to: copy) }
            try update(copy, log: .asService, &raw)
            try update(copy, log: .bySQLite, &rawByDefault)
            _ = try server.start()
        }
    }

    private func update(
        _ path: String, log: RawUpdates.LogPolicy, _ updates: inout Updates
    ) throws {
        let group = Int((groups.last ?? 1).rounded())
        let result = try RawUpdates(path: path, objects: dataset.count, log: log).run(
            group: group, seconds: settings.seconds
        ) { document(of: $0) }
        updates.perSecond.append(result.perSecond)
        updates.p50.append(result.p50)
        updates.p99.append(result.p99)
    }

    /// An object's members with a padding that makes 250 bytes of it.
    private func document(of object: Int) -> String {
        var writer = JSONWriter()
        dataset.write(object, into: &writer)
        let text = String(decoding: writer.bytes, as: UTF8.self)
        let room = 250 - text.utf8.count - #","pad":"""#.utf8.count
        guard room > 0 else { return text }
        return text.dropLast() + #","pad":"\#(String(repeating: "x", count: room))"}"#
    }

    private func request(_ method: String, _ members: String) -> [UInt8] {
        let params = #"{"bucket":"\#(GeoBucketServer.bucket)",\#(members)}"#
        return Array(
            (#"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"# + "\n").utf8)
    }

    /// A service that runs on a store loaded in bulk, the last of several.
    private mutating func loaded(_ workspace: Workspace) throws -> GeoBucketServer {
        let requests = stride(from: 0, to: dataset.count, by: Self.batch).map { first in
            let objects = (first..<min(first + Self.batch, dataset.count)).map(document(of:))
            return request("object.putMany", #""objects":[\#(objects.joined(separator: ","))]"#)
        }
        while true {
            progress("round \(loads.count + 1) of \(settings.rounds): bulk load")
            let server = try GeoBucketServer(workspace)
            _ = try server.start()
            loads.append(Double(dataset.count) / (try load(requests, into: server)))
            if loads.count == settings.rounds { return server }
            server.stop()
        }
    }

    /// - Returns: seconds.
    private func load(_ requests: [[UInt8]], into server: GeoBucketServer) throws -> Double {
        // Each is used on one thread alone.
        nonisolated(unsafe) let connections = try (0..<Self.loaders).map { _ in
            try server.connect()
        }
        let failures = FailureList()
        let time = seconds {
            DispatchQueue.concurrentPerform(iterations: Self.loaders) { number in
                do {
                    for position in stride(from: number, to: requests.count, by: Self.loaders) {
                        _ = try connections[number].ask(requests[position])
                    }
                } catch {
                    failures.add("\(error)")
                }
            }
        }
        if let failure = failures.first { throw Failure(failure) }
        return time
    }

    private func updates() -> RequestSet {
        var random = SplitMix64(seed: settings.seed)
        return RequestSet(
            (0..<10_000).map { _ in
                let object = random.below(dataset.count)
                return request(
                    "object.put",
                    #""id":"\#(Dataset.id(object))","object":\#(document(of: object))"#)
            })
    }

    private mutating func update(_ server: GeoBucketServer) throws {
        let before = try server.writeCounts()
        let connections = try (0..<Self.writers).map { _ in try server.connect() }
        var loop = try LoadLoop([LoadGroup(connections: connections, requests: updates())])
        let (results, time) = try loop.run(
            warmUp: settings.seconds * 0.15, seconds: settings.seconds
        ) { _ in }
        let after = try server.writeCounts()
        service.perSecond.append(Double(results[0].answers) / time)
        service.p50.append(Double(results[0].latencies.valueAtPercentile(50)) / 1e6)
        service.p99.append(Double(results[0].latencies.valueAtPercentile(99)) / 1e6)
        groups.append(
            Double(after.changes - before.changes) / Double(max(after.commits - before.commits, 1)))
    }

    private mutating func read(_ server: GeoBucketServer) throws {
        let peer = GeoBucketPeer(server: server)
        let index = dataset.index()
        let queries = WorkloadQuery.make(
            for: .q1, dataset: dataset, index: index, count: settings.queryCount(.q1),
            seed: settings.seed)
        let reads = RequestSet(queries.compactMap { peer.request($0, for: .q1) })
        for isBeside in [false, true] {
            var groups = [
                LoadGroup(
                    connections: try (0..<Self.readers).map { _ in try server.connect() },
                    requests: reads)
            ]
            if isBeside {
                groups.append(
                    LoadGroup(
                        connections: try (0..<Self.writers).map { _ in try server.connect() },
                        requests: updates()))
            }
            var loop = try LoadLoop(groups)
            let (results, time) = try loop.run(
                warmUp: settings.seconds * 0.15, seconds: settings.seconds
            ) { _ in }
            let perSecond = Double(results[0].answers) / time
            isBeside ? readsBeside.append(perSecond) : readsAlone.append(perSecond)
        }
    }

    /// The report, in Markdown.
    func text(_ machine: Machine) -> String {
        let share = { (a: [Double], b: [Double]) in
            String(format: "%.0f %%", 100 * a.median / max(b.median, 1))
        }
        var table = Table(["", "a second", "p50 ms", "p99 ms", "share", "target"])
        table.add(
            [
                "bulk load, 1,000 objects a putMany", figure(loads.median), "", "", "", "150,000",
            ])
        table.add(
            [
                "durable updates, \(Self.writers) connections", figure(service.perSecond.median),
                figure(service.p50.median), figure(service.p99.median),
                share(service.perSecond, raw.perSecond) + ", "
                    + share(service.perSecond, rawByDefault.perSecond), "80 %",
            ])
        for (name, updates) in [("as here", raw), ("as by default", rawByDefault)] {
            table.add(
                [
                    "raw SQLite, groups of \(Int(groups.median.rounded())), checkpoints \(name)",
                    figure(updates.perSecond.median),
                    figure(updates.p50.median), figure(updates.p99.median), "", "",
                ])
        }
        table.add([
            "Q1, \(Self.readers) connections, alone", figure(readsAlone.median), "", "", "", "",
        ])
        table.add(
            [
                "Q1 beside the updates", figure(readsBeside.median), "", "",
                share(readsBeside, readsAlone), "67 %",
            ])
        return "# Writes\n\n\(machine.lines)\n\n\(dataset.count) objects of 250 bytes, medians of "
            + "\(settings.rounds) rounds of \(settings.seconds) s.\n\n" + table.text
    }
}

/// What went wrong on several threads.
private final class FailureList: @unchecked Sendable {  // everything under the lock
    private let lock = NSLock()
    private var failures: [String] = []

    func add(_ failure: String) { lock.withLock { failures.append(failure) } }
    var first: String? { lock.withLock { failures.first } }
}

extension GeoBucketServer {
    /// How many changes and transactions of writes there were.
    fileprivate func writeCounts() throws -> (changes: Int, commits: Int) {
        let request = Array(#"{"jsonrpc":"2.0","id":1,"method":"server.stats"}"#.utf8) + [0x0A]
        return try JSONParser.reading(try connect().ask(request)) { answer in
            (
                answer["result"]?["change"]?.number?.exactInt ?? 0,
                answer["result"]?["commits"]?.number?.exactInt ?? 0
            )
        }
    }
}

extension [Double] {
    /// The middle one, or the lesser of both; 0 when there is none.
    fileprivate var median: Double { isEmpty ? 0 : sorted()[(count - 1) / 2] }
}
