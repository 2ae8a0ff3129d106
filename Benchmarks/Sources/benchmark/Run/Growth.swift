import SyntheticData
import Workloads

/// How the cost of a radius query (Q1) grows with the objects and with the hits.
struct Growth: Codable {
    struct Point: Codable {
        var peer: String
        var objects: Int
        var hits: Int
        /// Microseconds of the server's processor time by query; medians over the rounds.
        var cpu: Double
        var p50: Double
        var answersPerSecond: Double
    }

    /// The hits of the queries on datasets of different size.
    static let standardHits = 100

    /// The dataset that is asked for different numbers of hits.
    var hitsObjects: Int
    var titles: [[String]] = []
    var points: [Point] = []
    /// What loading took, by peer and number of objects.
    var facts: [String: [Int: LoadFacts]] = [:]

    /// Sizes of datasets, ascending by decades.
    private static let sizes = [10_000, 100_000, 1_000_000, 10_000_000]

    /// Loads and measures; peers but the index only up to the size that has the different hits.
    init(_ settings: Settings) throws {
        let largest = min(1_000_000, settings.objects)
        hitsObjects = Self.sizes.last { $0 <= largest } ?? Self.sizes[0]
        for size in Self.sizes where size <= settings.objects {
            let dataset = Dataset.clustered(objects: size, seed: settings.seed)
            let lineup = try Lineup(
                settings, dataset, withMade: false,
                only: size <= hitsObjects ? nil : [],
                flags: ["--page-objects", "20000", "--reply-bytes", "16000000"])
            defer { lineup.stop() }
            for (peer, loaded) in lineup.facts { facts[peer, default: [:]][size] = loaded }
            let index = dataset.index()
            let limit = IndexPeer(index, dataset)
            if titles.isEmpty {
                titles = lineup.peers.map { [$0.name, $0.title] } + [[limit.name, limit.title]]
            }
            let hits = size == hitsObjects ? [10, 100, 1_000, 10_000] : [Self.standardHits]
            for hits in hits where hits <= size / 4 {
                progress("growth: \(size) objects, \(hits) hits")
                let queries = WorkloadQuery.make(
                    for: .q1, hits: hits, dataset: dataset, index: index,
                    count: min(settings.queryCount(.q1), 1_000_000 / hits), seed: settings.seed)
                do {
                    try measure(settings, lineup, limit, queries, hits: hits, objects: size)
                } catch {
                    progress("\(size) objects, \(hits) hits: \(error)")
                }
            }
        }
    }

    private mutating func measure(
        _ settings: Settings, _ lineup: Lineup, _ limit: IndexPeer, _ queries: [WorkloadQuery],
        hits: Int, objects: Int
    ) throws {
        let bench = Bench(settings)
        var results = Results(dataset: "growth", objects: objects)
        func kind(_ peer: String) -> Sample.Case {
            Sample.Case(
                workload: .q1, peer: peer, mode: .closed, connections: settings.mostConnections)
        }
        let asked = lineup.peers.map { peer in
            let requests = queries.compactMap {
                peer is GeoBucketPeer
                    ? GeoBucketPeer.request($0, limit: hits) : peer.request($0, for: .q1)
            }
            return (peer: peer, requests: RequestSet(requests))
        }
        for round in 1...min(3, settings.rounds) {
            for (peer, requests) in asked {
                results.samples.append(
                    try bench.measure(kind(peer.name), peer.server, requests, round: round))
            }
            if let answer = limit.answer(.q1, queries) {
                results.samples.append(
                    try bench.measure(
                        kind(limit.name), round: round, queries: queries.count, answer))
            }
        }
        for title in titles {
            guard let cpu = results.median(kind(title[0]), \.serverCPU) else { continue }
            points.append(
                Point(
                    peer: title[0], objects: objects, hits: hits, cpu: cpu,
                    p50: results.median(kind(title[0]), \.p50) ?? 0,
                    answersPerSecond: results.median(kind(title[0]), \.answersPerSecond) ?? 0))
        }
    }
}

extension Growth {
    /// The tables of the report.
    func text(_ machine: Machine) -> String {
        var table = Table(["peer", "objects", "hits", "CPU µs", "p50 µs", "queries/s"])
        for point in points {
            table.add([
                titles.first { $0[0] == point.peer }?[1] ?? point.peer,
                figure(Double(point.objects)),
                figure(Double(point.hits)), figure(point.cpu), figure(point.p50),
                figure(point.answersPerSecond),
            ])
        }
        var loads = Table(["peer", "objects", "load s", "start s", "bytes/object"])
        for title in titles {
            for (size, facts) in (facts[title[0]] ?? [:]).sorted(by: { $0.key < $1.key }) {
                loads.add([
                    title[1], figure(Double(size)), figure(facts.loadSeconds),
                    figure(facts.startSeconds), figure(facts.memoryBytesPerObject),
                ])
            }
        }
        return
            "# How cost grows\n\n\(machine.lines)\n\nRadius queries, ids and distances, unsorted; "
            + "GeoBucket's limits of a page and of an answer are raised for the larger ones. "
            + "Processor time by query of all of a peer's processes.\n\n"
            + "![Growth](growth.svg)\n\n" + table.text + "\n" + loads.text
    }
}
