import BackendContract
import JSONText
import Objects
import Synchronization
import TestSupport
import Testing

/// "A read sees one state: the documents it returns are the ones that matched."
///
/// Each writer owns some pairs of objects and moves both of a pair, in one write, from one state to
/// the other: place, name of the state and serial number change together. No reader may see half.
@Suite struct ConcurrencyTests {
    private static let pairs = 12
    private static let bucket = "pairs"
    private static let north = #"{"_type":"point","lat":60,"lon":10}"#
    private static let south = #"{"_type":"point","lat":-60,"lon":10}"#

    @Test(arguments: BackendKind.all, [0, 256 * 1_048_576])
    func `no reader of the backend sees half of a write`(on kind: BackendKind, cacheBytes: Int)
        async throws
    {
        try await withTemporaryFolder { folder in
            var limits = Limits()
            limits.documentCacheBytes = cacheBytes
            try await withBackend(kind, path: folder + "/store.sqlite", limits: limits) { client in
                try await Self.run(
                    writers: [client, client], readers: [client, client, client], moves: 60)
            }
        }
    }

    @Test(arguments: BackendKind.all)
    func `no reader through TCP sees half of a write`(on kind: BackendKind) async throws {
        try await TestService.with(on: kind) { service in
            let client = RemoteClient(connection: service.connection)
            let direct = DirectClient(backend: service.backend, limits: Limits())
            try await Self.run(
                writers: [client, direct], readers: [client, client, direct], moves: 60)
        }
    }

    private final class Progress: Sendable {
        let writing: Atomic<Int>
        let reads = Atomic<Int>(0)

        init(writers: Int) { writing = Atomic(writers) }
    }

    private static func run(
        writers: [any ContractClient], readers: [any ContractClient], moves: Int
    ) async throws {
        for pair in 0..<pairs { try await move(pair, serial: 0, on: writers[0]) }
        let progress = Progress(writers: writers.count)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, client) in writers.enumerated() {
                group.addTask {
                    defer { progress.writing.subtract(1, ordering: .relaxed) }
                    for serial in 1...moves {
                        for pair in stride(from: number, to: pairs, by: writers.count) {
                            try await move(pair, serial: serial, on: client)
                        }
                    }
                }
            }
            for (number, client) in readers.enumerated() {
                group.addTask {
                    var random = SplitMix64(seed: UInt64(number))
                    repeat {
                        try await read(&random, on: client)
                        progress.reads.add(1, ordering: .relaxed)
                        // A direct read never suspends, and the writers need a thread too.
                        await Task.yield()
                    } while progress.writing.load(ordering: .relaxed) > 0
                }
            }
            try await group.waitForAll()
        }
        #expect(progress.reads.load(ordering: .relaxed) > 20)
        // Where nobody writes any more, each query has all that there is.
        for client in readers {
            for state in ["north", "south"] {
                for clause in clauses(state) {
                    let page = try await page(of: clause, on: client)
                    #expect(
                        page.ids.count
                            == (state == (moves % 2 == 0 ? "north" : "south") ? 2 * pairs : 0),
                        "\(clause)")
                }
            }
        }
    }

    private static func move(_ pair: Int, serial: Int, on client: any ContractClient) async throws {
        let isNorth = serial % 2 == 0
        let objects = ["a", "b"].map { half in
            #"{"_id":"\#(pair)-\#(half)","pair":\#(pair),"serial":\#(serial),"#
                + #""state":"\#(isNorth ? "north" : "south")","at":\#(isNorth ? north : south)}"#
        }
        try await client.value(
            "object.putMany",
            #"{"bucket":"\#(bucket)","objects":[\#(objects.joined(separator: ","))]}"#)
    }

    /// What asks for a state by place, by name, and by both.
    private static func clauses(_ state: String) -> [String] {
        let circle =
            #"{"type":"geodistance","field":"at","center":\#(state == "north" ? north : south),"#
            + #""radius":5,"putDistanceInto":"d"}"#
        let name = #"{"type":"eq","field":"state","value":"\#(state)"}"#
        return [name, circle, #"{"type":"and","clauses":[\#(circle),\#(name)]}"#]
    }

    private static func page(
        of clause: String, order: String = "", on client: any ContractClient
    ) async throws -> Page {
        try Page(
            try await client.call(
                "bucket.query",
                #"{"bucket":"\#(bucket)","bucketQuery":{"clause":\#(clause)\#(order)}}"#))
    }

    /// One query that asks for one of the states, or for everything.
    private static func read(_ random: inout SplitMix64, on client: any ContractClient) async throws
    {
        let asked = random.pick(["north", "south", nil])
        let clause = asked.map { random.pick(clauses($0)) } ?? #"{"type":"all"}"#
        let order =
            clause.contains("putDistanceInto")
            ? random.pick(["", #","orderBy":"_calculated.d""#, #","orderBy":"pair""#])
            : random.pick(["", #","orderBy":"serial""#])
        let page = try await page(of: clause, order: order, on: client)
        if asked == nil { #expect(page.ids.count == 2 * pairs) }
        var serials: [Int: [Int]] = [:]
        for result in page.results {
            let value = result.value
            let state = asked ?? value["state"]?.string
            #expect(value["state"]?.string == state, "\(value.text) answers \(clause)")
            #expect((value["at"]?["lat"]?.int ?? 0 > 0) == (state == "north"), "\(value.text)")
            #expect(
                value["_version"]?.int == value["serial"]?.int.map { $0 + 1 }, "\(value.text)")
            serials[value["pair"]!.int!, default: []].append(value["serial"]!.int!)
        }
        for (pair, found) in serials {
            #expect(found.count == 2 && Set(found).count == 1, "pair \(pair): \(found)")
        }
    }
}
