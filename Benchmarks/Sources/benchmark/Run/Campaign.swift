import Foundation
import SpatialIndex
import SyntheticData
import Workloads

extension Workload {
    /// Those that are also sent in groups.
    static let pipelined: [Workload] = [.q1, .q5]
}

/// One dataset, put into every peer and measured in rounds.
final class Campaign {
    private let settings: Settings
    private let dataset: Dataset
    private let workloads: [Workload]
    private let index: PointIndex
    private let lineup: Lineup
    private let bench: Bench
    private var embedded: [any EmbeddedPeer] = []
    private var echo: EchoServer?
    /// By workload: who is asked, and how.
    private var asked: [Workload: [(peer: String, server: any Server, requests: RequestSet)]] = [:]
    /// By workload: what is called in this process.
    private var called: [Workload: [(peer: String, answer: (Int) throws -> Int)]] = [:]
    private(set) var results: Results

    /// Loads everything.
    init(_ settings: Settings, _ dataset: Dataset, workloads: [Workload], isMain: Bool) throws {
        self.settings = settings
        self.dataset = dataset
        self.workloads = workloads
        index = dataset.index()
        bench = Bench(settings)
        lineup = try Lineup(settings, dataset, withMade: isMain)
        results = Results(dataset: dataset.name, objects: dataset.count)
        results.facts = lineup.facts
        results.titles = lineup.peers.map { [$0.name, $0.title] }
        results.versions = lineup.servers.map(\.version)
        if isMain { try addLimits() }
    }

    func stop() {
        lineup.stop()
        echo?.stop()
    }

    /// Measures all of it.
    func run() throws {
        for workload in workloads { try prepare(workload) }
        let reads = workloads.filter { $0 != .q8 }
        for round in 1...settings.rounds {
            for workload in reads {
                progress(
                    "\(dataset.name): round \(round) of \(settings.rounds), \(workload.rawValue)")
                for connections in settings.connectionCounts {
                    measure(workload, .closed, connections, round)
                }
                if Workload.pipelined.contains(workload) {
                    measure(workload, .pipelined, settings.mostConnections, round)
                }
                measureEmbedded(workload, round)
            }
        }
        for round in 1...settings.rounds {
            for workload in reads where asked[workload] != nil && workload <= .q5 {
                progress("half load: round \(round) of \(settings.rounds), \(workload.rawValue)")
                measure(workload, .half, settings.mostConnections, round)
            }
        }
        if workloads.contains(.q8) { try measureMoving() }
        let memory = try lineup.geobucket.memory()
        results.residentBytes = memory.resident / dataset.count
        results.cachedBytes = memory.cached / dataset.count
    }

    /// The peers that only the main dataset is measured with: limits, and those in this process.
    private func addLimits() throws {
        let workspace = Workspace(folder: settings.scratch, geobucket: settings.geobucket)
        if settings.includes("echo") {
            let server = try EchoServer(workspace)
            echo = server
            results.titles.append(["echo", EchoPeer.title])
        }
        if settings.includes("index") { embedded.append(IndexPeer(index, dataset)) }
        if settings.includes("engine") {
            let copy = settings.scratch + "/engine.sqlite"
            try lineup.copyStore(to: copy)
            embedded.append(EnginePeer(store: copy))
        }
        if settings.includes("sqlite") { embedded.append(SQLitePeer(folder: settings.scratch)) }
        for peer in embedded {
            progress("loading \(dataset.count) objects into \(peer.name)")
            results.facts[peer.name] = try peer.load(dataset)
            results.titles.append([peer.name, peer.title])
            results.versions.append(peer.version)
        }
    }

    /// Encodes a workload's requests and compares the peers' answers with the right ones.
    private func prepare(_ workload: Workload) throws {
        progress("\(dataset.name): \(workload.rawValue), \(workload.title)")
        let form = workload.form
        let queries = WorkloadQuery.make(
            for: form, dataset: dataset, index: index, count: settings.queryCount(workload),
            seed: settings.seed)
        let oracle = Oracle(dataset: dataset)
        let right = queries.prefix(workload == .q6 ? 5 : 50).map { oracle.hits($0, form) }
        for peer in lineup.peers {
            let requests = queries.compactMap { peer.request($0, for: form) }
            guard requests.count == queries.count else { continue }
            let connection = try peer.server.connect()
            let agreement = oracle.judge(peer.name, workload, right) {
                try peer.hits(in: connection.ask(requests[$0]), for: form)
            }
            guard accepts(agreement) else { continue }
            asked[workload, default: []].append((peer.name, peer.server, RequestSet(requests)))
            if peer.name == "geobucket" { try prepareEcho(workload, requests, connection) }
        }
        for peer in embedded {
            guard let answer = try peer.answer(form, queries) else { continue }
            let agreement = oracle.judge(peer.name, workload, right, countsOnly: true) {
                Array(repeating: .counted, count: try answer($0))
            }
            if accepts(agreement) { called[workload, default: []].append((peer.name, answer)) }
        }
    }

    /// Keeps how right a peer is; false when it does not answer, and when GeoBucket is not right
    /// to the last object. The others measure on other spheres.
    private func accepts(_ agreement: Agreement) -> Bool {
        results.agreements.append(agreement)
        var failure = agreement.refusal
        if agreement.peer == "geobucket", agreement.common < 1 || agreement.worstMeters > 1e-5 {
            failure = failure ?? "its answers are wrong"
        }
        let name = "\(agreement.peer), \(agreement.workload.rawValue)"
        if let failure { progress("\(name): \(failure)") }
        results.failures[name] = failure
        return failure == nil
    }

    private func prepareEcho(
        _ workload: Workload, _ requests: [[UInt8]], _ connection: Connection
    ) throws {
        guard let echo, workload <= .q5 else { return }
        let lines = try requests.map {
            EchoPeer.request($0, answerBytes: try connection.ask($0).count)
        }
        asked[workload, default: []].append(("echo", echo, RequestSet(lines)))
    }

    /// Who is asked in a round, and how. Who comes first gains or loses a few per cent, so the order
    /// turns with each round.
    private func asked(
        _ workload: Workload, in round: Int
    ) -> [(peer: String, server: any Server, requests: RequestSet)] {
        let all = asked[workload] ?? []
        return round.isMultiple(of: 2) ? all.reversed() : all
    }

    private func measure(
        _ workload: Workload, _ mode: Mode, _ connections: Int, _ round: Int
    ) {
        for (peer, server, requests) in asked(workload, in: round) {
            let kind = Sample.Case(
                workload: workload, peer: peer, mode: mode, connections: connections)
            var rate: Double?
            if mode == .half {
                var closed = kind
                closed.mode = .closed
                guard let fastest = results.median(closed, \.answersPerSecond) else { continue }
                rate = fastest / 2
            }
            attempt(peer, workload) {
                [try bench.measure(kind, server, requests, round: round, rate: rate)]
            }
        }
    }

    private func measureEmbedded(_ workload: Workload, _ round: Int) {
        for (peer, answer) in called[workload] ?? [] {
            let kind = Sample.Case(
                workload: workload, peer: peer, mode: .inProcess, connections: 0)
            attempt(peer, workload) {
                [
                    try bench.measure(
                        kind, round: round, queries: settings.queryCount(workload), answer)
                ]
            }
        }
    }

    /// Keeps what is measured; a peer that fails at a workload is not asked it again.
    private func attempt(
        _ peer: String, _ workload: Workload, _ measure: () throws -> [Sample]
    ) {
        let name = "\(peer), \(workload.rawValue)"
        guard results.failures[name] == nil else { return }
        do {
            let samples = try measure()
            results.samples += samples
            let failures = samples.reduce(0) { $0 + $1.failures }
            if failures > 0 { results.failures[name] = "\(failures) requests refused" }
        } catch {
            results.failures[name] = "\(error)"
        }
        if let failure = results.failures[name] { progress("\(name): \(failure)") }
    }

    /// Q8: every peer's writes as durable as GeoBucket's, each moving objects half a kilometre.
    private func measureMoving() throws {
        for server in lineup.servers { try server.makeDurable() }
        var random = SplitMix64(seed: settings.seed)
        let moves = (0..<10_000).map { _ in
            let object = random.below(dataset.count)
            let position = dataset.positions[object].coordinate
            return (
                object,
                MicroPoint(
                    latitude: position.latitude + random.number(-0.005...0.005),
                    longitude: position.longitude + random.number(-0.005...0.005))
            )
        }
        for round in 1...settings.rounds {
            progress("\(dataset.name): round \(round) of \(settings.rounds), Q8")
            for (name, server, reads) in asked(.q8, in: round) {
                guard let peer = lineup.peers.first(where: { $0.name == name }) else { continue }
                let writes = RequestSet(moves.compactMap { peer.move($0, to: $1) })
                let reading = Sample.Case(
                    workload: .q8, peer: name, mode: .closed,
                    connections: settings.mostConnections)
                var moving = reading
                moving.mode = .moving
                attempt(name, .q8) {
                    try bench.measureMoving(
                        reading, moving, server, reads: reads, moves: writes, round: round)
                }
            }
        }
    }
}
