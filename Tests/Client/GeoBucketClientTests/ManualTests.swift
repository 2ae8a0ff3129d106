import Foundation
import GeoBucketClient
import TestSupport
import Testing

/// The pieces of Swift in the client's manual that no other test has.
@Suite struct ManualTests {
    /// The classic model class, by key-value coding.
    private final class Item: KeyValueCoded {
        var name = ""
        var number: Int?
        static var properties: [Property<Item>] {
            [Property("name", \.name), Property("number", \.number)]
        }
    }

    @Test func `Fields make clauses that the compiler has checked`() async throws {
        let name = Field<String>("name")
        let rating = Field<Int>("rating")
        let tags = Field<[String]>("tags")
        let clause =
            name.startsWith("K") && rating >= 4 && tags.contains("wifi")
            || rating.isIn([1, 2]) || rating.isIn(6..<8) || name.contains("osk") || rating == nil
        try await withBucket { bucket in
            _ = try await bucket.putMany(
                try [
                    #"{"name":"Kai","rating":5,"tags":["wifi","bar"]}"#,
                    #"{"name":"Kai","rating":5,"tags":["bar"]}"#, #"{"name":"a","rating":2}"#,
                    #"{"name":"b","rating":7}"#, #"{"name":"b","rating":8}"#,
                    #"{"name":"Kiosk","rating":3}"#, #"{"name":"c"}"#,
                ].map { try JSONValue(parsing: $0) })
            let found = try await bucket.count(BucketQuery(clause: clause))
            #expect(found == 5)
        }
    }

    @Test func `Money is set and read as a decimal`() throws {
        let object = ServiceClient().bucket("some").createObject()
        object.setObject(Decimal(string: "19.99"), forKey: "price")
        let price = object.decimal(forKey: "price")
        #expect(price == Decimal(string: "19.99") && object["price"]?.text == "19.99")
    }

    @Test func `An object takes its fields from a model`() throws {
        let object = ServiceClient().bucket("some").createObject()
        let item = Item()
        try item.configureValues(with: try JSONValue(parsing: #"{"name":"chair","number":3}"#))
        try object.setValues(of: item)
        let names = try item.valueDictionary.keys.sorted()
        #expect(names == ["name", "number"])
        #expect(object.document.text == #"{"name":"chair","number":3}"#)
    }

    @Test func `A watch keeps marks on a map, and moves`() async throws {
        try await withBucket { couriers in
            let here = GeoPoint(latitude: 35.68, longitude: 139.76)
            let near = #"{"_id":"c1","location":{"_type":"point","lat":35.681,"lon":139.76}}"#
            let far = #"{"_id":"c2","location":{"_type":"point","lat":36,"lon":139.76}}"#
            _ = try await couriers.putMany(try [near, far].map { try JSONValue(parsing: $0) })
            var marks: [String: GeoPoint] = [:]
            let last: Int64 = 0
            let query = BucketQuery(
                clause: .geoDistance("location", center: here, radius: 2_000, putDistanceInto: "d"))
            for try await state in couriers.watch(query) {
                for event in state.events {
                    switch event.kind {
                    case .entered, .changed:
                        marks[event.id] = event.object?.getGeoPoint(forKey: "location")
                    case .left: marks[event.id] = nil
                    }
                }
                if state.change >= last { break }
            }
            #expect(marks == ["c1": GeoPoint(latitude: 35.681, longitude: 139.76)])

            let (nearest, elsewhere) = (BucketQuery(clause: query.clause), query.copy())
            (nearest.limit, elsewhere.limit) = (5, 1)
            let watch = couriers.watch(nearest)  // nearest.limit = 5: a ranking
            Task { try await watch.move(to: elsewhere) }
            let states = watch.makeAsyncIterator()
            #expect(try await states.next()?.objects.ids == ["c1"])
        }
    }
}
