import Geodesy
import JSONText
import SyntheticData
import TestSupport
import Testing

/// The objects that load tests and benchmarks are made of.
@Suite struct DatasetTests {
    private static func documents(_ dataset: Dataset) -> [String] {
        (0..<dataset.count).map { String(decoding: dataset.document(of: $0), as: UTF8.self) }
    }

    @Test(arguments: [1, 2, 77] as [UInt64])
    func `The same seed makes the same objects, another one others`(_ seed: UInt64) {
        let first = Self.documents(.clustered(objects: 300, seed: seed))
        #expect(first == Self.documents(.clustered(objects: 300, seed: seed)))
        let other = Self.documents(.clustered(objects: 300, seed: seed + 1))
        #expect(zip(first, other).allSatisfy { $0 != $1 }, "seed \(seed)")
    }

    @Test func `A smaller set is the beginning of a larger one`() {
        let small = Dataset.clustered(objects: 100, seed: 5)
        let large = Dataset.clustered(objects: 1_000, seed: 5)
        #expect(small.positions == Array(large.positions.prefix(100)))
    }

    @Test func `A document says what the set says of its object`() throws {
        let dataset = Dataset.clustered(objects: 500, seed: 3)
        for object in 0..<dataset.count {
            let bytes = dataset.document(of: object)
            let document = try JSONValue(parsing: bytes)
            #expect(document["_id"]?.string == Dataset.id(object))
            #expect(try Dataset.object(ofDocument: bytes) == object)
            #expect(document["rating"]?.int == Int(dataset.ratings[object]))
            let category = Dataset.categoryNames[Int(dataset.categories[object])]
            #expect(document["category"]?.string == category)
            let place = document["location"]
            #expect(place?["_type"]?.string == "point")
            let coordinate = dataset.positions[object].coordinate
            #expect(place?["lat"]?.double == coordinate.latitude)
            #expect(place?["lon"]?.double == coordinate.longitude)
        }
        #expect(Set(dataset.ratings).isSubset(of: 0...100))
    }

    @Test(arguments: [(0, "o00000000"), (17, "o00000017"), (99_999_999, "o99999999")])
    func `Ids have eight digits and stand in the order of their numbers`(
        _ object: Int, _ id: String
    ) {
        #expect(Dataset.id(object) == id && Dataset.object(id) == object)
        #expect(Dataset.object(Dataset.id(object + 1)) == object + 1)
    }

    @Test func `A new object has no id and what a stored one has besides`() throws {
        let dataset = Dataset.clustered(objects: 20, seed: 8)
        for object in 0..<dataset.count {
            var writer = JSONWriter()
            Dataset.writeNew(
                object, category: Int(dataset.categories[object]),
                rating: Int(dataset.ratings[object]), at: dataset.positions[object], into: &writer)
            let new = String(decoding: writer.bytes, as: UTF8.self)
            let stored = String(decoding: dataset.document(of: object), as: UTF8.self)
            let id = "\"_id\":\"\(Dataset.id(object))\","
            #expect(
                try JSONValue(parsing: new) == JSONValue(parsing: stored.replacing(id, with: "")))
        }
    }

    @Test(arguments: [
        (0.0, 0.0, 0, 0), (85.000_000_4, -180.5, 85_000_000, -180_000_000),
        (-90, 200, -85_000_000, 180_000_000), (1.000_000_6, -1.000_000_6, 1_000_001, -1_000_001),
    ])
    func `A position is the nearest millionth of a degree, and stays on the map`(
        _ latitude: Double, _ longitude: Double, _ y: Int32, _ x: Int32
    ) {
        let point = MicroPoint(latitude: latitude, longitude: longitude)
        #expect(point.latitude == y && point.longitude == x)
        let coordinate = point.coordinate
        let again = MicroPoint(latitude: coordinate.latitude, longitude: coordinate.longitude)
        #expect(again == point)
    }
}
