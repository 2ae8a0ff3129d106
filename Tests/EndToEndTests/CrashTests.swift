import EmbeddedBackend
import Foundation
import GeoBucketClient
import JSONText
import Runtime
import TestSupport
import Testing

/// "What was answered survives kill -9", "all or nothing", "requests of one connection take effect
/// in the order in which they came"; a repeat under the same key does a write once.
///
/// `scripts/crash.sh --rounds 200` asks for more rounds.
@Suite struct CrashTests {
    private static func environment(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    /// Short, so that the log is begun anew many times in a round.
    private static let flags = ["--log-bytes", "65536"]

    @Test func `every answered write survives a kill, and no write is half there`() async throws {
        let rounds = Self.environment("GEOBUCKET_CRASH_ROUNDS") ?? 8
        let seed = UInt64(Self.environment("GEOBUCKET_CRASH_SEED") ?? 1)
        var random = SplitMix64(seed: seed)
        try await withTemporaryFolder { folder in
            let store = folder + "/store.sqlite"
            var journals = (0..<4).map { CrashJournal(writer: $0) }
            for round in 0..<rounds {
                let context = "seed \(seed), round \(round)"
                let lifetime = Duration.milliseconds(random.below(450))
                let seeds = journals.map { _ in random.next() }
                journals = try await Program.serve(
                    store: store, folder: folder, flags: Self.flags
                ) { process, port in
                    var journals = journals
                    try await Self.verify(&journals, port: port, context)
                    return try await Self.write(
                        journals, seeds, port: port, until: lifetime, killing: process)
                }
                let report = try StoreCheck.run(path: store)
                #expect(report.problems == [], "\(context)")
            }
            try await Program.serve(store: store, folder: folder) { _, port in
                try await Self.verify(&journals, port: port, "seed \(seed), after the last round")
            }
            let answered = journals.map(\.answered).reduce(0, +)
            // Some 70 to 150 in a round, on two processors that others use too.
            #expect(answered > 10 * rounds, "\(answered) writes were answered in \(rounds) rounds")
            print("crash test: \(rounds) rounds, seed \(seed), \(answered) answered writes")
        }
    }

    /// Every writer writes until the process is killed under it.
    private static func write(
        _ journals: [CrashJournal], _ seeds: [UInt64], port: Int, until lifetime: Duration,
        killing process: ChildProcess
    ) async throws -> [CrashJournal] {
        let (answers, answered) = AsyncStream.makeStream(of: Void.self)
        return try await withThrowingTaskGroup(of: (Int, CrashJournal)?.self) { group in
            for (number, journal) in journals.enumerated() {
                group.addTask {
                    let random = SplitMix64(seed: seeds[number])
                    let written = try await write(journal, random, port: port) {
                        answered.yield()
                    }
                    answered.finish()
                    return (number, written)
                }
            }
            group.addTask {
                try await untilKilled(port) { try await expireAndCheck($0) }
                return nil
            }
            // Where the machine is slow, the lifetime begins when writing has begun.
            for await _ in answers.prefix(journals.count) {}
            try await Task.sleep(for: lifetime)
            process.signal(SIGKILL)
            var written = journals
            for try await result in group {
                if let (number, journal) = result { written[number] = journal }
            }
            return written
        }
    }

    /// Runs `body` on a connection that the service's end may end.
    private static func untilKilled(
        _ port: Int, _ body: (LineConnection) async throws -> Void
    ) async throws {
        do {
            try await LineConnection.with(host: "127.0.0.1", port: port, body)
        } catch ClientFailure.disconnected {
        } catch ClientFailure.unreachable {  // killed before this connection had begun
        }
    }

    private static func write(
        _ journal: CrashJournal, _ random: SplitMix64, port: Int, answered: @Sendable () -> Void
    ) async throws -> CrashJournal {
        var (journal, random) = (journal, random)
        try await untilKilled(port) { connection in
            while true {
                journal.unanswered = journal.nextWrites(1 + random.below(4), &random)
                let pending = journal.unanswered.map {
                    connection.begin($0.method, Array($0.params.utf8))
                }
                for answer in pending {
                    _ = try LineConnection.result(of: try await answer.value())
                    journal.answered(journal.unanswered.removeFirst())
                    answered()
                }
            }
        }
        return journal
    }

    /// Writes objects that expire at once, or nearly, and has the service check itself.
    private static func expireAndCheck(_ connection: LineConnection) async throws {
        while true {
            let now = wallMilliseconds()
            let brief =
                #"{"bucket":"brief","objects":[{},{},{"n":\#(now)}],"expiresAt":\#(now + 40)}"#
            _ = try await connection.call("object.putMany", Array(brief.utf8))
            let check = try await connection.call("store.check", Array("{}".utf8))
            #expect(try JSONValue(parsing: check)["problems"] == .array([]))
        }
    }

    /// Reads every object and compares it with the journals; then sends again, under their keys, the
    /// writes that were on their way: each is there once.
    private static func verify(
        _ journals: inout [CrashJournal], port: Int, _ context: String
    ) async throws {
        try await LineConnection.with(host: "127.0.0.1", port: port) { connection in
            for number in journals.indices {
                let found = try await states(journals[number].buckets, connection, context)
                #expect(journals[number].reconcile(with: found) == [], "\(context)")
                for write in journals[number].unanswered {
                    _ = try await connection.call(write.method, Array(write.params.utf8))
                    journals[number].happened(write)
                }
                journals[number].unanswered = []
                let again = try await states(journals[number].buckets, connection, context)
                #expect(journals[number].differences(from: again) == [], "\(context), sent again")
            }
            let now = wallMilliseconds()
            let brief = try await connection.call(
                "bucket.query", Array(#"{"bucket":"brief"}"#.utf8))
            for object in try JSONValue(parsing: brief)["results"]?.array ?? [] {
                #expect(object["_expiresAt"]!.int! > Int(now), "\(context): \(object.text)")
            }
        }
    }

    private static func states(
        _ buckets: [String], _ connection: LineConnection, _ context: String
    ) async throws -> [String: CrashJournal.State] {
        var found: [String: CrashJournal.State] = [:]
        for bucket in buckets {
            let answer = try await connection.call(
                "bucket.query", Array(#"{"bucket":"\#(bucket)"}"#.utf8))
            for object in try JSONValue(parsing: answer)["results"]?.array ?? [] {
                let content = object["n"]?.int ?? -1
                found["\(bucket)/\(object["_id"]!.string!)"] = CrashJournal.State(
                    version: object["_version"]!.int!, number: content,
                    expires: object["_expiresAt"] != nil)
                let whole = try JSONValue(parsing: CrashJournal.document(content))
                for name in whole.names {
                    #expect(
                        object[name]?.isIdentical(to: whole[name]!) == true,
                        "\(context): \(name) of \(object.text)")
                }
            }
        }
        return found
    }
}
