import ArgumentParser
import Workloads

/// What is measured, and for how long.
struct Settings: ParsableArguments {
    @Option(help: "Objects in the generated dataset.")
    var objects = 1_000_000

    @Option(help: "Rounds; medians are taken over them.")
    var rounds = 5

    @Option(help: "Seconds of one measured window.")
    var seconds = 2.0

    @Option(help: "Workloads, with commas between them: Q1,Q4. (default: all)")
    var only: String?

    @Option(
        help:
            "Peers besides GeoBucket, with commas between them: redis,postgis,sqlite,echo,index,engine. (default: all)"
    )
    var peers: String?

    @Option(help: "Numbers of connections, with commas between them.")
    var connections = "1,16"

    @Option(help: "Seed of the dataset and of the queries.")
    var seed: UInt64 = 1

    @Option(help: "Folder of the report.")
    var output = "results"

    @Option(help: "Empty folder for stores and logs; whoever made it removes it.")
    var scratch: String

    @Option(help: "The program to measure.")
    var geobucket: String

    @Option(
        help:
            "An earlier build of the program, measured in the same rounds as the peer \"before\".")
    var before: String?

    @Option(help: "Folder with real cities and postcodes; without it they are left out.")
    var data: String?

    @Flag(help: "A smoke run: few objects, short windows, two rounds.")
    var quick = false

    /// Queries prepared for a workload.
    func queryCount(_ workload: Workload) -> Int { (quick ? 200 : 1_000) * workload.variety }

    var workloads: [Workload] {
        guard let only else { return Workload.allCases }
        let names = Set(only.uppercased().split(separator: ",").map(String.init))
        return Workload.allCases.filter { names.contains($0.rawValue) }
    }

    var connectionCounts: [Int] { connections.split(separator: ",").compactMap { Int($0) } }

    /// The most connections that are asked for: what the targets and Q8 are about.
    var mostConnections: Int { connectionCounts.max() ?? 16 }

    func includes(_ peer: String) -> Bool {
        peers.map { $0.split(separator: ",").contains { $0 == peer } } ?? true
    }

    mutating func validate() throws {
        if quick {
            objects = min(objects, 20_000)
            rounds = min(rounds, 2)
            seconds = min(seconds, 0.2)
        }
        guard objects >= 1_000, rounds >= 1, seconds > 0, !connectionCounts.isEmpty else {
            throw ValidationError(
                "at least 1,000 objects, one round, some seconds and one number of connections")
        }
        guard !workloads.isEmpty else { throw ValidationError("--only: no such workload") }
    }
}
