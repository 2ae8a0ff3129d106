import BackendContract
import JSONText
import Objects
import PostgresBackend
import SyntheticData
import TestSupport
import Testing

/// The place of a bucket through random writes and starts.
@Suite struct PlaceTests {
    /// The rule of the specification, on counts alone.
    private struct Model {
        var fields: [String: String] = [:]
        private(set) var place: String?

        mutating func set(_ id: String, _ field: String?) {
            fields[id] = field
            let counts = Dictionary(grouping: fields.values) { $0 }.mapValues(\.count)
            guard let most = counts.values.max() else {
                place = nil
                return
            }
            if let present = place.flatMap({ counts[$0] }), most <= 2 * present { return }
            place = counts.filter { $0.value == most }.keys.min()
        }
    }

    @Test(arguments: BackendKind.all, [1, 2, 3] as [UInt64])
    func `the place depends on the writes alone, whoever loads them`(
        on kind: BackendKind, seed: UInt64
    ) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            var random = SplitMix64(seed: seed)
            var model = Model()
            for start in 0..<6 {
                let (present, generator) = (model, random)
                (model, random) = try await TestService.with(on: kind, path: path) { service in
                    var (model, random) = (present, generator)
                    try await Self.check(service, model, "seed \(seed), start \(start)")
                    // Which field is usual changes with each start.
                    let usual = ["a", "b", "c"].randomElement(using: &random)!
                    for write in 0..<30 {
                        let id = "o\(Int.random(in: 0..<40, using: &random))"
                        let field =
                            Int.random(in: 0..<4, using: &random) > 0
                            ? usual : ["a", "b", "c", nil].randomElement(using: &random)!
                        try await Self.put(id, field, service)
                        model.set(id, field)
                        try await Self.check(
                            service, model, "seed \(seed), start \(start), write \(write)")
                    }
                    return (model, random)
                }
            }
        }
    }

    private static func put(_ id: String, _ field: String?, _ service: TestService) async throws {
        let place = field.map { #""\#($0)":{"_type":"point","lat":1,"lon":2}"# } ?? ""
        try await service.call(
            "object.put", #"{"bucket":"b1","id":"\#(id)","object":{\#(place)}}"#)
    }

    private static func check(
        _ service: TestService, _ model: Model, _ context: Comment
    ) async throws {
        let list = try await service.call("bucket.list")["buckets"]?.array
        #expect(list?.first?["place"]?.string == model.place, context)
    }

    /// Where objects are by each of their fields, so that clusters tell which is the place.
    private static let latitudes = ["a": 1, "b": 40, "c": -40]

    /// A client that writes and reads at one node.
    private static func client(_ node: PostgresBackend) -> DirectClient {
        DirectClient(backend: NodePair(writing: node, reading: node), limits: Limits())
    }

    /// Nodes that take over several writes at once, and nodes that copy the tables.
    @Test(.needsPostgreSQL, arguments: [1, 2, 3, 4] as [UInt64])
    func `all nodes have the place that the writers have elected`(seed: UInt64) async throws {
        try await withTemporaryFolder { folder in
            let opening = BackendKind.Opening(path: folder + "/nodes")
            var random = SplitMix64(seed: seed)
            var nodes = [try NodePair.node("0", opening), try NodePair.node("1", opening)]
            defer { for node in nodes { try? node.close() } }
            for round in 2..<6 {
                let usual = Self.latitudes.keys.sorted().randomElement(using: &random)!
                for _ in 0..<40 {
                    let writer = nodes.randomElement(using: &random)!
                    let client = Self.client(writer)
                    let field =
                        Int.random(in: 0..<4, using: &random) > 0
                        ? usual : Self.latitudes.keys.sorted().randomElement(using: &random)!
                    let id = "o\(Int.random(in: 0..<60, using: &random))"
                    try await client.value(
                        "object.put",
                        #"{"bucket":"b1","id":"\#(id)","object":{"\#(field)":{"_type":"point","lat":\#(Self.latitudes[field]!),"lon":2}}}"#
                    )
                }
                // It copies the tables.
                nodes.append(try NodePair.node("\(round)", opening))
                var shown: Set<String> = []
                for node in nodes {
                    shown.insert(
                        String(
                            decoding: try await Self.client(node).call(
                                "bucket.clusters", #"{"bucket":"b1","zoom":0}"#), as: UTF8.self))
                }
                #expect(shown.count == 1, "seed \(seed), round \(round): \(shown)")
            }
        }
    }
}
