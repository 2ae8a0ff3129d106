import EmbeddedBackend
import Foundation
import GeoBucketClient
import JSONText
import TestSupport
import Testing

/// "What was answered survives kill -9", "all or nothing", "requests of one connection take effect
/// in the order in which they came".
///
/// GEOBUCKET_CRASH_ROUNDS asks for more rounds, GEOBUCKET_CRASH_SEED for another course.
@Suite struct CrashTests {
    private static func environment(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    @Test func `every answered write survives a kill, and no write is half there`() async throws {
        let rounds = Self.environment("GEOBUCKET_CRASH_ROUNDS") ?? 8
        let seed = UInt64(Self.environment("GEOBUCKET_CRASH_SEED") ?? 1)
        var random = SplitMix64(seed: seed)
        try await withTemporaryFolder { folder in
            let store = folder + "/store.sqlite"
            var journals = (0..<4).map { CrashJournal(writer: $0) }
            for round in 0..<rounds {
                let place = "seed \(seed), round \(round)"
                let lifetime = Duration.milliseconds(50 + random.below(450))
                let seeds = journals.map { _ in random.next() }
                journals = try await Program.serve(store: store, folder: folder) { process, port in
                    var journals = journals
                    try await Self.verify(&journals, port: port, place)
                    return try await Self.write(
                        journals, seeds, port: port, until: lifetime, killing: process)
                }
                let report = try StoreCheck.run(path: store)
                #expect(report.problems == [], "\(place)")
            }
            try await Program.serve(store: store, folder: folder) { _, port in
                try await Self.verify(&journals, port: port, "seed \(seed), after the last round")
            }
            let answered = journals.map(\.answered).reduce(0, +)
            #expect(answered > 2 * rounds, "\(answered) writes were answered in \(rounds) rounds")
        }
    }

    /// Every writer writes until the process is killed under it.
    private static func write(
        _ journals: [CrashJournal], _ seeds: [UInt64], port: Int, until lifetime: Duration,
        killing process: ChildProcess
    ) async throws -> [CrashJournal] {
        try await withThrowingTaskGroup(of: (Int, CrashJournal).self) { group in
            for (number, journal) in journals.enumerated() {
                group.addTask {
                    (number, try await write(journal, SplitMix64(seed: seeds[number]), port: port))
                }
            }
            try await Task.sleep(for: lifetime)
            process.signal(SIGKILL)
            var written = journals
            for try await (number, journal) in group { written[number] = journal }
            return written
        }
    }

    private static func write(
        _ journal: CrashJournal, _ random: SplitMix64, port: Int
    ) async throws -> CrashJournal {
        var (journal, random) = (journal, random)
        do {
            try await LineConnection.with(host: "127.0.0.1", port: port) { connection in
                while true {
                    journal.unanswered = journal.nextWrites(1 + random.below(4), &random)
                    let pending = journal.unanswered.map {
                        connection.begin($0.method, Array($0.params.utf8))
                    }
                    for answer in pending {
                        _ = try LineConnection.result(of: try await answer.value())
                        journal.answered(journal.unanswered.removeFirst())
                    }
                }
            }
        } catch ClientFailure.disconnected {
        } catch ClientFailure.unreachable {  // killed before this writer had begun
        }
        return journal
    }

    /// Reads every object and compares it with the journals.
    private static func verify(
        _ journals: inout [CrashJournal], port: Int, _ place: String
    ) async throws {
        try await LineConnection.with(host: "127.0.0.1", port: port) { connection in
            for number in journals.indices {
                var found: [String: CrashJournal.State] = [:]
                let answer = try await connection.call(
                    "bucket.query", Array(#"{"bucket":"\#(journals[number].bucket)"}"#.utf8))
                for object in try JSONValue(parsing: answer)["results"]?.array ?? [] {
                    let content = object["n"]?.int ?? -1
                    found[object["_id"]!.string!] = CrashJournal.State(
                        version: object["_version"]!.int!, number: content)
                    let whole = try JSONValue(parsing: CrashJournal.document(content))
                    for name in whole.names {
                        #expect(
                            object[name]?.isIdentical(to: whole[name]!) == true,
                            "\(place): \(name) of \(object.text)")
                    }
                }
                #expect(journals[number].reconcile(with: found) == [], "\(place)")
            }
        }
    }
}
