import GeoBucketClient
import TestSupport
import Testing

@Suite struct ClusterTests {
    private static func document(_ id: String, _ latitude: Double, _ longitude: Double) -> JSONValue
    {
        .object([
            "_id": .string(id), "name": .string("at \(id)"), "at": .point(latitude, longitude),
        ])
    }

    @Test func `Clusters have the middle of their places, or the one object`() async throws {
        try await withBucket { bucket in
            _ = try await bucket.putMany([
                Self.document("tokyo", 35, 139), Self.document("osaka", 34, 135),
                Self.document("oslo", 60, 10), .object(["_id": .string("nowhere")]),
            ])
            let world = try await bucket.clusters(zoom: 0, bits: 3)
            #expect(world.total == 3 && world.change > 0)
            #expect(world.clusters.map(\.cell) == ["3/4/2", "3/7/3"])
            #expect(world.clusters.map(\.count) == [1, 2])
            #expect(world.clusters.map { $0.object?.uuid } == ["oslo", nil])
            #expect(world.clusters[0].center == nil)
            let center = try #require(world.clusters[1].center)
            #expect((34.49..<34.51).contains(center.latitude) && abs(center.longitude - 137) < 1e-6)
        }
    }

    @Test func `Clusters are of a field, in a box, of what matches, with the fields asked for`()
        async throws
    {
        try await withBucket { bucket in
            _ = try await bucket.putMany([
                Self.document("tokyo", 35, 139), Self.document("osaka", 34, 135),
                Self.document("oslo", 60, 10),
            ])
            let box = (
                northEast: GeoPoint(latitude: 40, longitude: 150),
                southWest: GeoPoint(latitude: 30, longitude: 130)
            )
            let query = BucketQuery(clause: .notEquals("name", value: "at osaka"))
            query.fields = ["at"]
            let found = try await bucket.clusters(
                of: "at", zoom: 2, bits: 0, in: box, matching: query)
            let object = try #require(found.clusters.first?.object)
            #expect(found.total == 1 && found.clusters.count == 1)
            #expect(object.uuid == "tokyo" && object["name"] == nil && object["at"] != nil)
            await #expect(throws: ClientFailure.self) { try await object.saveAllFields() }
            #expect(try await bucket.clusters(of: "other", zoom: 2).clusters.isEmpty)
            #expect(
                await outcome { _ = try await bucket.clusters(zoom: 23) } == "INVALID_INPUT_DATA")
        }
    }

    @Test func `Field types count the objects that have each`() async throws {
        try await withBucket { bucket in
            _ = try await bucket.putMany([
                .object(["size": .int(3), "address": .object(["city": .string("Oslo")])]),
                .object(["size": .double(2.5), "at": .point(1, 2)]),
                .object(["size": .null, "tags": .array([])]),
            ])
            let types = try await bucket.fieldTypes()
            #expect(types.objects == 3 && types.sampled == 3)
            #expect(types.fields["size"] == [.integer: 1, .decimal: 1, .null: 1])
            #expect(types.fields["address.city"] == [.string: 1])
            #expect(types.fields["at"] == [.geoPoint: 1])
            #expect(types.fields["tags"] == [.array: 1])
        }
    }
}
