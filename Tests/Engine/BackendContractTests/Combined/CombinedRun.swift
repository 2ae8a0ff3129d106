import GeoBucketClient
import JSONText
import Synchronization
import TestSupport
import Testing

/// One seed's run: some lives of a service on one store. In each, writers, many connections that read,
/// and a clock by which objects expire are at work together.
struct CombinedRun: Sendable {
    let seed: UInt64
    private let kind: BackendKind
    let tally = CombinedTally()
    private let budget: CombinedBudget
    private let world: CombinedWorld
    /// What the service has logged.
    let log = LogLines()
    private let clock = TestClock(1_700_000_000_000)
    private let buckets: [CombinedBucket]

    private static let lives = 3
    private static let rounds = 5
    private static let bursts = 6
    private static let readersPerBucket = 2

    init(seed: UInt64, on kind: BackendKind) {
        var random = SplitMix64(seed: seed)
        self.seed = seed
        self.kind = kind
        let (budget, clock) = (CombinedBudget(&random), clock)
        self.budget = budget
        world = CombinedWorld(&random)
        buckets = budget.sizes.indices.map { number in
            CombinedBucket(
                name: "bucket-\(number)", size: budget.sizes[number], isRagged: number > 0,
                time: Int(clock.now))
        }
    }

    func run() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            for life in 0..<Self.lives {
                try await TestService.with(
                    on: kind, path: path, limits: budget.limits, tuning: budget.tuning, log: log,
                    clock: clock
                ) { try await live($0, life) }
            }
            try checkStore(path)
            // This clock is not PostgreSQL's, and its disk need not survive the test.
            let expected = ["clock differs", "fsync is off"]
            for line in log.all(from: .warning) where !expected.contains(where: line.contains) {
                throw Disagreement(description: "seed \(seed): the service logged \(line)")
            }
        }
    }

    private func context(_ bucket: CombinedBucket) -> String { "seed \(seed), \(bucket.name)" }

    // MARK: One life

    private func live(_ service: TestService, _ life: Int) async throws {
        let isOver = Flag()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, bucket) in buckets.enumerated() {
                for reader in 0..<Self.readersPerBucket {
                    group.addTask {
                        try await read(
                            bucket, of: service, stream(100 * life + 10 * number + reader), isOver)
                    }
                }
            }
            group.addTask {
                while !isOver.isSet { try await check(service) }
            }
            group.addTask {
                for round in 0..<Self.rounds {
                    try await write(service, stream(100_000 + 100 * life + round))
                    advance()
                }
                isOver.set()
            }
            for try await _ in group {}
        }
        service.backend.settle()
        try await check(service)
    }

    /// The numbers of one task.
    private func stream(_ number: Int) -> SplitMix64 {
        SplitMix64(seed: seed << 20 + UInt64(number))
    }

    /// One round: every bucket's writer does its bursts, beside the others.
    private func write(_ service: TestService, _ random: SplitMix64) async throws {
        var random = random
        try await withThrowingTaskGroup(of: Void.self) { group in
            for bucket in buckets {
                let own = SplitMix64(seed: random.next())
                group.addTask {
                    try await LineConnection.with(host: "127.0.0.1", port: service.port) {
                        var writer = CombinedWriter(
                            bucket: bucket, world: world, connection: $0, context: context(bucket),
                            random: own)
                        for _ in 0..<Self.bursts {
                            try await writer.burst()
                            tally.add("bursts")
                        }
                    }
                }
            }
            for try await _ in group {}
        }
    }

    /// Moves the clock, on which no write is under way now, while reads are.
    private func advance() {
        let time = clock.now + 400
        let numbers = buckets.map { $0.history.begin { $0.time = Int(time) }.number }
        clock.now = time
        for (bucket, number) in zip(buckets, numbers) { bucket.history.know(number) }
    }

    private func read(
        _ bucket: CombinedBucket, of service: TestService, _ random: SplitMix64, _ isOver: Flag
    ) async throws {
        var random = random
        try await LineConnection.with(host: "127.0.0.1", port: service.port) { connection in
            let clients: [any ContractClient] = [
                RemoteClient(connection: connection), RemoteClient(connection: connection),
                DirectClient(backend: service.backend, limits: budget.limits),
            ]
            while !isOver.isSet, !Task.isCancelled {
                let reader = CombinedReader(
                    bucket: bucket, world: world, client: random.pick(clients),
                    context: context(bucket))
                try await reader.read(&random, tally)
                tally.add("reads")
                // A direct read never suspends, and the others need a thread too.
                await Task.yield()
            }
        }
    }

    // MARK: What is derived

    /// Everything that is derived, compared with what is stored.
    private func check(_ service: TestService) async throws {
        let report = try await service.call("store.check")
        guard report["problemCount"]?.int == 0 else {
            throw Disagreement(description: "seed \(seed): store.check says \(report.text)")
        }
        tally.add("checks")
        if service.backend.statistics().columns > 0 { tally.add("checks with columns") }
    }

    private func checkStore(_ path: String) throws {
        let report = try kind.check(path)
        guard report.problems.isEmpty else {
            throw Disagreement(description: "seed \(seed): the store: \(report.problems)")
        }
    }
}

/// Says once that something is over.
final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .relaxed) }

    func set() { value.store(true, ordering: .relaxed) }
}

/// How often what happened.
final class CombinedTally: Sendable, CustomStringConvertible {
    private let counts = Mutex<[String: Int]>([:])

    var names: Set<String> { counts.withLock { Set($0.keys) } }

    func add(_ name: String) { counts.withLock { $0[name, default: 0] += 1 } }

    var description: String {
        counts.withLock { counts in
            counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
                .joined(separator: ", ")
        }
    }
}
