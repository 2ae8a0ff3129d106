import BackendContract
import EmbeddedBackend
import Foundation
import Objects
import TestSupport
import Testing

@Suite struct StoreLoadingTests {
    /// What an engine is given of an object.
    private struct Loaded: Equatable {
        var object: [Int64?]
        var id: String
        var points: [Double]
    }

    /// What one thread or several load; an error if the store is found to be damaged.
    private func load(_ path: String, inPiecesOf size: Int64? = nil) throws -> [Loaded] {
        let store = try SQLiteStore(path: path)
        defer { try? store.close() }
        return try store.scan { scan in
            var found: [Loaded] = []
            if let size {
                try store.forEachObject(of: scan, inPiecesOf: size) { list($0, into: &found) }
            } else {
                try scan.forEachObject { list($0, into: &found) }
            }
            return found
        }
    }

    private func list(_ objects: LoadedObjects, into list: inout [Loaded]) {
        objects.visit { object, id, points in
            list.append(
                Loaded(
                    object: [
                        Int64(object.bucket), Int64(object.creation), Int64(object.change),
                        object.expires,
                    ], id: String(decoding: id, as: UTF8.self),
                    points: points.flatMap {
                        [Double($0.field), $0.coordinate.latitude, $0.coordinate.longitude]
                    }))
        }
    }

    /// A closed store of some hundred objects in three buckets.
    private func makeStore(_ path: String, _ random: inout SplitMix64) async throws {
        var objects: [[String]] = [[], [], []]
        for number in 0..<900 {
            let point = #"{"_type":"point","lat":\#(random.below(90)),"lon":\#(number % 7)}"#
            let place =
                switch random.below(4) {
                case 0: #""at":[\#(point),\#(point.replacing("lat\":", with: "lat\":-"))],"#
                case 1: #""at":\#(point),"from":{"place":\#(point)},"#
                default: ""
                }
            objects[random.below(3)].append(#"{"_id":"object-\#(number)",\#(place)"n":\#(number)}"#)
        }
        try await withBackend(.embedded, path: path) { [objects] client in
            for (bucket, objects) in zip(["first", "second", "third"], objects) {
                let expiry = bucket == "second" ? #","expiresAt":9007199254740991"# : ""
                let list = objects.joined(separator: ",")
                try await client.value(
                    "object.putMany", #"{"bucket":"\#(bucket)","objects":[\#(list)]\#(expiry)}"#)
            }
            let below = #"{"clause":{"type":"range","field":"n","upperLimit":90}}"#
            try await client.value(
                "bucket.deleteWhere", #"{"bucket":"first","bucketQuery":\#(below)}"#)
        }
    }

    @Test func `several threads load what one does, in its order`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            var random = SplitMix64(seed: 17)
            try await makeStore(path, &random)
            let expected = try load(path)
            #expect(expected.count > 800)
            for size in [1, 2, 7, 64, 100_000] as [Int64] {
                #expect(try load(path, inPiecesOf: size) == expected, "in pieces of \(size)")
            }
        }
    }

    @Test func `several threads refuse a damaged store, or load what one does`() async throws {
        try await withTemporaryFolder { folder in
            let seed = UInt64(18)
            var random = SplitMix64(seed: seed)
            let (path, damaged) = (folder + "/store.sqlite", folder + "/damaged.sqlite")
            try await makeStore(path, &random)
            let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
            var (refused, loaded) = (0, 0)
            for _ in 0..<400 {
                var copy = bytes
                let (place, bit) = (4_096 + random.below(bytes.count - 4_096), random.below(8))
                copy[place] ^= 1 << UInt8(bit)
                try Data(copy).write(to: URL(fileURLWithPath: damaged))
                guard let found = try? load(damaged, inPiecesOf: 16) else {
                    refused += 1
                    continue
                }
                loaded += 1
                let expected = try? load(damaged)
                #expect(found == expected, "seed \(seed), byte \(place), bit \(bit)")
            }
            print("damage, seed \(seed): \(refused) stores refused, \(loaded) loaded")
        }
    }
}
