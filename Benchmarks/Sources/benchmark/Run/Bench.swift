import Histogram
import Workloads

/// Measures peers, one window at a time.
final class Bench {
    private let settings: Settings
    /// Open connections by server.
    private var pools: [String: [Connection]] = [:]

    init(_ settings: Settings) { self.settings = settings }

    /// One window of load on a server.
    ///
    /// - Parameter rate: requests a second of an open loop; nil: a closed loop.
    func measure(
        _ kind: Sample.Case, _ server: any Server, _ requests: RequestSet, round: Int,
        rate: Double? = nil
    ) throws -> Sample {
        let group = LoadGroup(
            connections: try connections(kind.connections, to: server), requests: requests,
            rate: rate, depth: kind.mode.depth)
        return try run([(kind, group)], server, round)[0]
    }

    /// Q8: the first case reads while the second moves objects, on connections of their own.
    func measureMoving(
        _ reading: Sample.Case, _ moving: Sample.Case, _ server: any Server, reads: RequestSet,
        moves: RequestSet, round: Int
    ) throws -> [Sample] {
        let all = try connections(reading.connections + moving.connections, to: server)
        return try run(
            [
                (
                    reading,
                    LoadGroup(connections: Array(all[..<reading.connections]), requests: reads)
                ),
                (
                    moving,
                    LoadGroup(connections: Array(all[reading.connections...]), requests: moves)
                ),
            ], server, round)
    }

    /// One window of calls in this process.
    func measure(
        _ kind: Sample.Case, round: Int, queries: Int, _ answer: (Int) throws -> Int
    ) throws -> Sample {
        let rehearsed = now() + UInt64(settings.seconds * 0.15e9)
        for query in 0..<queries where now() < rehearsed { _ = try answer(query) }
        var result = LoadResult()
        let begin = now()
        let cpu = threadSeconds()
        let end = begin + UInt64(settings.seconds / 2 * 1e9)
        var start = begin
        var next = 0
        while start < end || result.answers < 20 && start < begin + 10_000_000_000 {
            _ = try answer(next)
            let stop = now()
            result.latencies.record(stop - start)
            result.answers += 1
            start = stop
            next = next + 1 == queries ? 0 : next + 1
        }
        return Sample(
            of: kind, round: round, result, seconds: Double(start - begin) / 1e9,
            serverSeconds: threadSeconds() - cpu, generatorSeconds: 0, answers: result.answers)
    }

    private func run(
        _ groups: [(kind: Sample.Case, group: LoadGroup)], _ server: any Server, _ round: Int
    ) throws -> [Sample] {
        var serverSeconds = 0.0
        var ownSeconds = 0.0
        do {
            var loop = try LoadLoop(groups.map(\.group))
            let (results, seconds) = try loop.run(
                warmUp: settings.seconds * 0.15, seconds: settings.seconds
            ) { isBegin in
                serverSeconds = server.cpuSeconds - serverSeconds
                ownSeconds = threadSeconds() - ownSeconds
            }
            let all = results.reduce(0) { $0 + $1.answers }
            return zip(groups, results).map { group, result in
                Sample(
                    of: group.kind, round: round, result, seconds: seconds,
                    serverSeconds: serverSeconds, generatorSeconds: ownSeconds, answers: all)
            }
        } catch {
            pools[server.name] = nil  // nobody knows what is under way on them
            throw error
        }
    }

    private func connections(_ count: Int, to server: any Server) throws -> [Connection] {
        while pools[server.name, default: []].count < count {
            pools[server.name, default: []].append(try server.connect())
        }
        return Array(pools[server.name]![..<count])
    }
}
