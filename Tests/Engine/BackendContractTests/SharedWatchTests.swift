import BackendContract
import GeoBucketClient
import JSONText
import Objects
import PostgresBackend
import TestSupport
import Testing

/// Watches that read buckets which no node is to hold together.
@Suite(.needsPostgreSQL, .serialized) struct SharedWatchTests {
    /// Three nodes, and buckets of which the first one's node is to hold none of the others.
    private struct World: Sendable {
        let cluster: TestCluster
        let couriers: BucketName
        let riders: BucketName
        let taxis: BucketName
        /// The node that is to hold `couriers`, and the one that is to hold no bucket.
        let node: Int
        let idle: Int

        init(_ cluster: TestCluster) throws {
            let placements = (0..<3).map { cluster.backend($0).placement! }
            func holder(_ bucket: BucketName) -> Int {
                placements.firstIndex { $0.isToHold(bucket) }!
            }
            let names = (0..<64).map { BucketName(trusted: "b\($0)x") }
            let first = names[0]
            let others = names.filter { holder($0) != holder(first) }
            let second = try #require(others.first)
            let third = try #require(others.first { $0 != second && holder($0) == holder(second) })
            (couriers, riders, taxis) = (first, second, third)
            node = holder(first)
            idle = 3 - node - holder(second)
            self.cluster = cluster
        }

        /// Puts an object onto a meridian, through some node.
        func put(_ bucket: BucketName, _ id: String, lat: Double) async throws {
            try await cluster.call(
                lat == 0 ? 0 : node, "object.put",
                #"{"bucket":"\#(bucket.text)","id":"\#(id)","object":{"p":\#(Self.point(lat))}}"#)
        }

        static func point(_ lat: Double) -> String { #"{"_type":"point","lat":\#(lat),"lon":8}"# }

        /// The params of a watch of couriers with one of the other side within a kilometre.
        func pairs(with other: BucketName) -> String {
            let circle =
                #"{"type":"geodistance","field":"p","center":\#(Self.point(0)),"radius":100000}"#
            return #"{"bucket":"\#(couriers.text)","bucketQuery":{"clause":\#(circle)},"#
                + #""pairs":{"bucket":"\#(other.text)","field":"p","radius":1000}}"#
        }
    }

    private struct Refused: Error {
        let code: String
        let message: String
    }

    /// Starts a watch at a node, or where it sends the client to, as soon as that has loaded what it
    /// needs. Then it calls `body`.
    private static func watching(
        _ params: String, in cluster: TestCluster, from node: Int,
        _ body: (RawConnection) async throws -> Void
    ) async throws {
        var port = cluster.port(node)
        for _ in 0..<2 {
            let next = try await RawConnection.during(port: port) { connection -> Int? in
                do {
                    try await start(params, on: connection)
                } catch let refused as Refused where refused.code == "OPERATION_NOT_ALLOWED" {
                    return refused.message.split(separator: ":").last.flatMap { Int($0) }
                }
                try await body(connection)
                return nil
            }
            guard let next else { return }
            port = next
        }
        Issue.record("the client was sent on by the node that it was sent to")
    }

    /// Starts a watch, again while the node loads.
    private static func start(_ params: String, on connection: RawConnection) async throws {
        let isAnswered = try await waited {
            try connection.send(
                #"{"jsonrpc":"2.0","id":1,"method":"watch.start","params":\#(params)}"# + "\n")
            let answer = try JSONValue(parsing: Array((try connection.line() ?? "").utf8))
            guard let error = answer["error"] else { return true }
            let message = error["message"]?.string ?? ""
            if message.contains("is loading the bucket") { return false }
            throw Refused(code: error["data"]?["errorCode"]?.string ?? "", message: message)
        }
        #expect(isAnswered)
    }

    /// Reads notifications until one has some words.
    private static func expect(_ words: String, on connection: RawConnection) throws {
        while let line = try connection.line() {
            if line.contains(words) { return }
            if line.contains("watch.end") { break }
        }
        Issue.record("the watch has ended without \(words)")
    }

    @Test(arguments: 0..<3)
    func `couples of two nodes' buckets are watched, whichever node is asked`(
        node: Int
    ) async throws {
        try await TestCluster.with(nodes: 3, copies: 1) { cluster in
            let world = try World(cluster)
            try await world.put(world.couriers, "c1", lat: 0)
            try await world.put(world.riders, "r1", lat: 0.001)
            try await Self.watching(
                world.pairs(with: world.riders), in: cluster, from: node
            ) { connection in
                try Self.expect(#""ids":["c1","r1"]"#, on: connection)
                try await world.put(world.riders, "r2", lat: 0.002)
                try Self.expect(#""ids":["c1","r2"]"#, on: connection)
                try await world.put(world.riders, "r2", lat: 0.5)
                try Self.expect(#""part""#, on: connection)
            }
        }
    }

    @Test func `a centre that moves in another node's bucket is followed`() async throws {
        try await TestCluster.with(nodes: 3, copies: 1) { cluster in
            let world = try World(cluster)
            try await world.put(world.couriers, "c1", lat: 0.5)
            try await world.put(world.riders, "r1", lat: 0.501)
            let center =
                #"{"_type":"object","bucket":"\#(world.riders.text)","_id":"r1","field":"p"}"#
            let circle =
                #"{"type":"geodistance","field":"p","center":\#(center),"radius":1000}"#
            let params =
                #"{"bucket":"\#(world.couriers.text)","bucketQuery":{"clause":\#(circle)}}"#
            try await Self.watching(params, in: cluster, from: world.idle) { connection in
                try Self.expect(#""_id":"c1""#, on: connection)
                try await world.put(world.riders, "r1", lat: 1.5)
                try Self.expect(#""leave""#, on: connection)
                // The circle may also follow an object of a bucket that is not there yet.
                try connection.send(
                    #"{"jsonrpc":"2.0","id":2,"method":"watch.stop","params":{"watch":"w1"}}"#
                        + "\n")
                try Self.expect(#""id":2"#, on: connection)
                let moved = params.replacing(world.riders.text, with: world.taxis.text)
                try await Self.start(moved, on: connection)
                try await world.put(world.taxis, "r1", lat: 0.501)
                try Self.expect(#""enter""#, on: connection)
            }
        }
    }

    @Test func `a bucket stays as long as a watch needs it, and no longer`() async throws {
        try await TestCluster.with(nodes: 3, copies: 1) { cluster in
            let world = try World(cluster)
            for bucket in [world.couriers, world.riders, world.taxis] {
                try await world.put(bucket, "o1", lat: 0)
            }
            let backend = cluster.backend(world.node)
            try await Self.watching(
                world.pairs(with: world.riders), in: cluster, from: world.node
            ) { connection in
                try await Self.watching(
                    world.pairs(with: world.taxis), in: cluster, from: world.node
                ) { other in
                    try Self.expect("watch.snapshot", on: other)
                    #expect(backend.placement!.isHeld(world.taxis))
                    try other.send(
                        #"{"jsonrpc":"2.0","id":2,"method":"watch.stop","params":{"watch":"w1"}}"#
                            + "\n")
                    try Self.expect(#""id":2"#, on: other)
                }
                // When a node goes, the others look at what they are to hold.
                await cluster.end(world.idle)
                let isReleased = try await waited { !backend.placement!.isHeld(world.taxis) }
                #expect(isReleased && backend.placement!.isHeld(world.riders))
                try await world.put(world.riders, "o2", lat: 0.001)
                try Self.expect(#""ids":["o1","o2"]"#, on: connection)
            }
        }
    }

    @Test func `what a watch needs is loaded only if it fits`() async throws {
        var limits = TestCluster.impatient
        limits.heldBytes = 20_000
        let small = limits
        try await TestCluster.with(nodes: 3, copies: 1, limits: small) { cluster in
            let world = try World(cluster)
            try await world.put(world.couriers, "c1", lat: 0)
            let objects = (0..<1_000).map { #"{"_id":"o\#($0)"}"# }.joined(separator: ",")
            try await cluster.call(
                0, "object.putMany", #"{"bucket":"\#(world.riders.text)","objects":[\#(objects)]}"#)
            let refused = await #expect(throws: Refused.self) {
                try await Self.watching(
                    world.pairs(with: world.riders), in: cluster, from: world.idle
                ) { _ in }
            }
            #expect(refused?.code == "TEMPORARY_UNAVAILABLE_ERROR")
            let words = "the bucket \"\(world.riders.text)\" with its 1000 objects"
            #expect(refused?.message.hasPrefix(words) == true, "\(refused?.message ?? "")")
        }
    }
}
