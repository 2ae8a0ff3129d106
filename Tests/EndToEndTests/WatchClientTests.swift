import Foundation
import GeoBucketClient
import JSONText
import Synchronization
import TestSupport
import Testing

/// Watches of the Swift client with the whole program: restarts, kills, slow loops.
@Suite(.timeLimit(.minutes(3))) struct WatchClientTests {
    private static let center = GeoPoint(latitude: 35.68, longitude: 139.76)

    /// Everything within 2 km.
    private static var near: BucketQuery {
        BucketQuery(
            clause: .geoDistance(
                "location", center: center, radius: 2_000, putDistanceInto: "d"))
    }

    private static func document(_ number: Int, _ random: inout SplitMix64) -> JSONValue {
        let place = JSONValue.point(
            35.68 + random.number(-0.03...0.03), 139.76 + random.number(-0.03...0.03))
        return .object([
            .init("_id", .string("c-\(number)")), .init("location", place),
            .init("n", .int(random.below(1_000))),
        ])
    }

    /// What a loop has built from events alone, with the state that it saw last.
    private final class Seen: Sendable {
        private let state = Mutex((built: [String: String](), change: Int64(0), states: 0))

        var change: Int64 { state.withLock { $0.change } }
        var states: Int { state.withLock { $0.states } }
        var built: [String: String] { state.withLock { $0.built } }

        func take(_ next: WatchState<GeoObject>) {
            let objects = [String: String](
                uniqueKeysWithValues: next.objects.map { ($0.uuid!, $0.document.text) })
            state.withLock { state in
                for event in next.events {
                    switch event.kind {
                    case .entered, .changed:
                        state.built[event.id] = event.object!.document.text
                    case .left: state.built[event.id] = nil
                    }
                }
                #expect(state.built == objects, "events and objects differ at \(next.change)")
                (state.change, state.states) = (next.change, state.states + 1)
            }
        }
    }

    /// The answer to the query, as a loop would have it.
    private static func truth(_ bucket: Bucket, _ query: BucketQuery) async throws
        -> [String: String]
    {
        var texts: [String: String] = [:]
        for try await object in bucket.objects(matching: query) {
            texts[object.uuid!] = object.document.text
        }
        return texts
    }

    /// Waits until the watch shows the present, and compares it with the answer to a query.
    private static func compare(
        _ watch: Watch<GeoObject>, _ seen: Seen, _ bucket: Bucket, _ query: BucketQuery
    ) async throws {
        let truth = try await truth(bucket, query)
        let change = try await watch.sync()
        while seen.change < change { try await Task.sleep(for: .milliseconds(2)) }
        #expect(seen.built == truth)
    }

    private static func write(
        _ rounds: Int, _ bucket: Bucket, _ random: inout SplitMix64
    ) async throws {
        for _ in 0..<rounds {
            let documents = (0..<20).map { _ in Self.document(random.below(200), &random) }
            let distinct = Dictionary(documents.map { ($0["_id"]!.string!, $0) }) { $1 }
            _ = try await bucket.putMany(Array(distinct.values))
            let gone = bucket.createObject(withID: "c-\(random.below(200))")
            try? await gone.delete()
        }
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func `A watch outlives the end of its service, and misses nothing`(_ signal: Int32)
        async throws
    {
        try await withTemporaryFolder { folder in
            let store = folder + "/store.sqlite"
            var random = SplitMix64(seed: 11)
            let seen = Seen()
            var configuration = ClientConfiguration()
            configuration.usesRequestKeys = true
            let watch = Mutex<(Watch<GeoObject>, Task<Void, any Error>, ServiceClient, Int)?>(nil)
            try await Program.serve(store: store, folder: folder) { process, port in
                let client = ServiceClient(
                    ServiceAddress(host: "127.0.0.1", port: port), configuration: configuration)
                let bucket = client.bucket("couriers")
                try await Self.write(5, bucket, &random)
                let watched = bucket.watch(Self.near)
                let loop = Task { for try await state in watched { seen.take(state) } }
                try await Self.write(10, bucket, &random)
                try await Self.compare(watched, seen, bucket, Self.near)
                watch.withLock { $0 = (watched, loop, client, port) }
                process.signal(signal)
                _ = await process.end()
            }
            let (watched, loop, client, port) = watch.withLock { $0! }
            // Written by another client while the watch waits for the pause between attempts.
            try await Program.serve(store: store, folder: folder, port: port) { _, port in
                let bucket = client.bucket("couriers")
                let other = ServiceClient(
                    ServiceAddress(host: "127.0.0.1", port: port), configuration: configuration)
                try await Self.write(10, other.bucket("couriers"), &random)
                try await Self.compare(watched, seen, bucket, Self.near)
                try await Self.write(10, bucket, &random)
                try await Self.compare(watched, seen, bucket, Self.near)
                loop.cancel()
                _ = try? await loop.value
                await other.close()
                await client.close()
            }
        }
    }

    @Test func `A slow loop sees fewer states, each of them exact`() async throws {
        try await TestService.with { service in
            let address = ServiceAddress(host: "127.0.0.1", port: service.port)
            try await GeoBucketClient.with(address) { client in
                let bucket = client.bucket("couriers")
                var random = SplitMix64(seed: 3)
                try await Self.write(3, bucket, &random)
                let watch = bucket.watch(Self.near)
                let seen = Seen()
                let gate = AsyncStream<Void>.makeStream()
                let loop = Task {
                    var open = gate.stream.makeAsyncIterator()
                    for try await state in watch {
                        seen.take(state)
                        _ = await open.next()
                    }
                }
                while seen.states == 0 { try await Task.sleep(for: .milliseconds(2)) }
                try await Self.write(60, bucket, &random)
                _ = try await watch.sync()
                #expect(seen.states == 1)
                for _ in 0..<1_000 { gate.continuation.yield() }
                try await Self.compare(watch, seen, bucket, Self.near)
                #expect(seen.states <= 4)
                loop.cancel()
                _ = try? await loop.value
            }
        }
    }

    @Test func `A ranking is the answer to its query, move after move`() async throws {
        try await TestService.with { service in
            let address = ServiceAddress(host: "127.0.0.1", port: service.port)
            try await GeoBucketClient.with(address) { client in
                let bucket = client.bucket("couriers")
                var random = SplitMix64(seed: 5)
                try await Self.write(5, bucket, &random)
                let query = Self.near
                query.sort(byAsc: "_calculated.d")
                query.limit = 7
                let watch = bucket.watch(query, interval: .zero)
                let states = watch.makeAsyncIterator()
                var list: [String] = []
                for _ in 0..<15 {
                    try await Self.write(1, bucket, &random)
                    let change = try await watch.sync()
                    var current: Int64 = 0
                    while current < change {
                        let state = try #require(try await states.next())
                        for event in state.events {
                            if let place = event.previousIndex {
                                #expect(list.remove(at: place) == event.id)
                            }
                            if let place = event.index { list.insert(event.id, at: place) }
                        }
                        #expect(state.objects.ids == list)
                        current = state.change
                    }
                    let page = try await bucket.execute(query)
                    #expect(list == page.objects.map(\.uuid!))
                }
            }
        }
    }

    @Test func `A watch that moves has what the new query finds`() async throws {
        try await TestService.with { service in
            let address = ServiceAddress(host: "127.0.0.1", port: service.port)
            try await GeoBucketClient.with(address) { client in
                let bucket = client.bucket("couriers")
                var random = SplitMix64(seed: 8)
                try await Self.write(8, bucket, &random)
                let watch = bucket.watch(Self.near)
                let seen = Seen()
                let loop = Task { for try await state in watch { seen.take(state) } }
                for radius in [500.0, 3_000, 1_200] {
                    let query = BucketQuery(
                        clause: .geoDistance(
                            "location", center: Self.center, radius: radius, putDistanceInto: "d"))
                    try await watch.move(to: query)
                    try await Self.compare(watch, seen, bucket, query)
                    try await Self.write(3, bucket, &random)
                    try await Self.compare(watch, seen, bucket, query)
                }
                loop.cancel()
                _ = try? await loop.value
            }
        }
    }

    @Test func `Pairs meet and part, a centre moves, two radii do not flicker`() async throws {
        try await TestService.with { service in
            let address = ServiceAddress(host: "127.0.0.1", port: service.port)
            try await GeoBucketClient.with(address) { client in
                let (couriers, riders) = (client.bucket("couriers"), client.bucket("riders"))
                func put(_ bucket: Bucket, _ id: String, meters: Double) async throws {
                    let object = bucket.createObject(withID: id)
                    let north = GeoPoint(
                        latitude: Self.center.latitude + meters / 111_195, longitude: 139.76)
                    object.setGeoPoint(north, forKey: "location")
                    try await object.saveAllFields()
                }
                try await put(couriers, "c1", meters: 0)
                try await put(riders, "r1", meters: 150)
                let pairs = couriers.watchPairs(
                    Self.near, with: riders, radius: 200, leaveRadius: 300)
                let moving = riders.watch(
                    BucketQuery(
                        clause: .geoDistance(
                            "location", center: MovingCenter(of: "c1", in: couriers), radius: 200)))
                let steady = riders.watch(
                    BucketQuery(
                        clause: .geoDistance("location", center: Self.center, radius: 200)),
                    leaveRadius: 300)
                // What each shows at 150, 250, 350, 250 and 150 m, then when the centre follows.
                let (a, b, c) = (
                    pairs.makeAsyncIterator(), moving.makeAsyncIterator(),
                    steady.makeAsyncIterator()
                )
                func shown() async throws -> [Int] {
                    [
                        try await Self.count(pairs, a), try await Self.count(moving, b),
                        try await Self.count(steady, c),
                    ]
                }
                #expect(try await shown() == [1, 1, 1])
                for (meters, expected) in [
                    (250.0, [1, 0, 1]), (350, [0, 0, 0]), (250, [0, 0, 0]), (190, [1, 1, 1]),
                ] {
                    try await put(riders, "r1", meters: meters)
                    let found = try await shown()
                    #expect(found == expected, "\(meters)")
                }
                try await put(couriers, "c1", meters: -200)
                #expect(try await shown() == [0, 0, 1])
                try await couriers.createObject(withID: "c1").delete()
                #expect(try await shown() == [0, 0, 1])
            }
        }
    }

    /// How many objects a watch shows at present.
    private static func count<Object>(
        _ watch: Watch<Object>, _ states: Watch<Object>.Iterator
    ) async throws -> Int {
        let change = try await watch.sync()
        while let state = try await states.next() {
            if state.change >= change { return state.objects.count }
        }
        throw TestFailure("the watch has ended")
    }
}
