import GeoBucketClient
import Testing

/// Pages, walks and counts of a bucket.
@Suite struct QueryTests {
    @Test func `A walk asks what its query asked when it began`() async throws {
        try await withBucket { bucket in
            _ = try await bucket.putMany((0..<5).map { .object(["n": .int($0)]) })
            let query = BucketQuery()
            query.limit = 2
            let all = bucket.objects(matching: query)
            query.fields = []
            var numbers: [Int?] = []
            for try await object in all { numbers.append(object.int(forKey: "n")) }
            #expect(numbers == [0, 1, 2, 3, 4])
        }
    }

    @Test func `Queries page, count, sort and report distances`() async throws {
        try await withBucket { bucket in
            let documents = (0..<250).map { number in
                JSONValue.object([
                    "_id": .string("o-\(number)"), "n": .int(number),
                    "location": .point(35, 139 + Double(number) / 1_000),
                ])
            }
            _ = try await bucket.putMany(documents)
            let center = GeoPoint(latitude: 35, longitude: 139)
            let query = BucketQuery(
                clause: .geoDistance("location", center: center, putDistanceInto: "d")
                    && .greaterThanOrEqual("n", value: 10))
            query.sort(byDesc: "_calculated.d")
            query.limit = 100
            #expect(try await bucket.count(query) == 240)
            let first = try await bucket.execute(query)
            #expect(first.objects.map { $0.int(forKey: "n") } == (150..<250).reversed().map { $0 })
            let distances = first.objects.compactMap { $0.distance("d") }
            #expect(distances.count == 100 && distances == distances.sorted(by: >))
            var numbers: [Int] = []
            for try await object in bucket.objects(matching: query) {
                numbers.append(object.int(forKey: "n")!)
            }
            #expect(numbers == (10..<250).reversed())
            let names = BucketQuery(clause: .equals("n", value: 3))
            names.fields = []
            #expect(try await bucket.execute(names).objects.first?.document.names == ["_id"])
            #expect(try await bucket.deleteObjects(matching: .lessThan("n", value: 100)) == 100)
            #expect(try await bucket.client.buckets() == ["mydata": 150])
            #expect(try await bucket.delete() == 150)
        }
    }
}
