import Foundation
import GeoBucketClient
import KiiCompatibility
import Testing

/// The values of an object's fields: what is written is what is read, and what no object can have is
/// refused.
@Suite struct ObjectValueTests {
    @Test func `Every kind of value comes back as what it was`() async throws {
        try await withBucket { bucket in
            let object = bucket.createObject()
            let moment = Date(timeIntervalSince1970: 1_467_331_200.123)
            #expect(object.setObject("easy", forKey: "string"))
            #expect(object.setObject("", forKey: "empty"))
            #expect(object.setObject(Int8.min, forKey: "int8"))
            #expect(object.setObject(Int64.min, forKey: "int64"))
            #expect(object.setObject(UInt64.max, forKey: "uint64"))
            #expect(object.setObject(Float(0.1), forKey: "float"))
            #expect(object.setObject(3.5, forKey: "double"))
            #expect(object.setObject(true, forKey: "bool"))
            #expect(object.setObject(NSNumber(value: false), forKey: "nsbool"))
            #expect(object.setObject(NSNumber(value: 1), forKey: "one"))
            #expect(object.setObject(NSNull(), forKey: "null"))
            #expect(object.setObject(moment, forKey: "date"))
            #expect(
                object.setObject(
                    ["a": [1, "b", NSNull()] as [Any]] as [String: Any], forKey: "nested"))
            #expect(object.setGeoPoint(GeoPoint(latitude: -90, longitude: 180), forKey: "place"))
            try await object.save()

            let read = try await bucket.object(withID: object.uuid!)
            #expect(read.string(forKey: "string") == "easy")
            #expect(read.string(forKey: "empty") == "" && read["empty"] != nil)
            #expect(read.int(forKey: "int8") == -128)
            #expect(read.int64(forKey: "int64") == .min)
            #expect(read.int64(forKey: "uint64") == nil)
            #expect(try read.value(UInt64.self, forKey: "uint64") == .max)
            #expect(read.double(forKey: "float") == 0.1)
            #expect(try read.value(Float.self, forKey: "float") == 0.1)
            #expect(read.double(forKey: "double") == 3.5)
            #expect(read.bool(forKey: "bool") == true && read.int(forKey: "bool") == nil)
            #expect(read["nsbool"] == .bool(false) && read["one"] == .int(1))
            #expect(read["null"] == .null && read.hasObject("null"))
            #expect(read["missing"] == nil && !read.hasObject("missing"))
            #expect(read.date(forKey: "date") == moment)
            #expect(read["nested"]?.text == #"{"a":[1,"b",null]}"#)
            #expect(
                read.getGeoPoint(forKey: "place") == GeoPoint(latitude: -90, longitude: 180))
            #expect(read.created == object.created && read.modified == object.modified)
            #expect(read.version == 1)
            #expect(read.document["_id"]?.string == read.uuid)
            #expect(read.document.members.count == 4 + 14)
            // Nothing crashes on a value of another type.
            #expect(read.int(forKey: "string") == nil && read.string(forKey: "one") == nil)
            #expect(
                read.array(forKey: "nested") == nil && read.getGeoPoint(forKey: "nested") == nil)
            #expect(read.dictionary(forKey: "nested")?["a"]?[1] == .string("b"))
        }
    }

    @Test func `Values as Kii gave them can be cast as Kii's code does`() async throws {
        try await withBucket { bucket in
            let object = bucket.createObject()
            object.setObject(NSNumber(value: 987 as Int32), forKey: "score")
            object.setObject("easy", forKey: "mode")
            object.setObject(NSNumber(value: false as Bool), forKey: "premiumUser")
            object.setObject(["x": [1, 2]], forKey: "myJsonObject")
            object.setObject(JSONValue.null, forKey: "nothing")
            #expect((object.getForKey("score") as! NSNumber).intValue == 987)
            #expect(object.getForKey("mode") as! String == "easy")
            #expect((object.getForKey("premiumUser") as! NSNumber).boolValue == false)
            let dictionary = object.getForKey("myJsonObject") as! NSDictionary
            #expect((dictionary["x"] as! NSArray).count == 2)
            #expect(object.getForKey("nothing") is NSNull)
            #expect(object.getForKey("missing") == nil)
        }
    }

    @Test func `What no object can have is refused where it is set`() async throws {
        try await withBucket { bucket in
            let object = bucket.createObject()
            for key in ["_id", "_created", "_calculated", "_mine"] {
                #expect(!object.setObject(1, forKey: key), "\(key)")
            }
            #expect(!object.setObject(Double.nan, forKey: "nan"))
            #expect(!object.setObject([1.0, -.infinity], forKey: "infinity"))
            #expect(!object.setObject(JSONValue.array([.double(.nan)]), forKey: "json"))
            #expect(!object.setObject(1, forKey: "_\u{301}a"))
            #expect(!object.setObject(Optional<Any>.none, forKey: "nil"))
            #expect(!object.setObject(["f": NSObject()] as [String: Any], forKey: "object"))
            for point in [(90.1, 0.0), (-91, 0), (0, 180.1), (0, -181), (.nan, 0)] {
                let point = GeoPoint(latitude: point.0, longitude: point.1)
                #expect(!object.setGeoPoint(point, forKey: "place"), "\(point)")
            }
            #expect(object.document == .object([:]))
            #expect(throws: ClientFailure.invalid("inf has no JSON spelling", path: "a[1]")) {
                try object.set([1.0, .infinity], forKey: "a")
            }
        }
    }

    @Test func `An object over the limit is refused before it is sent`() async throws {
        try await withBucket { bucket in
            let object = bucket.createObject()
            // {"s":"…"} around the string
            object.setObject(String(repeating: "x", count: 65_534 - 8), forKey: "s")
            try await object.save()
            object.setObject(String(repeating: "x", count: 65_534 - 7), forKey: "s")
            let result = await outcome { try await object.save() }
            #expect(result.contains("65535") && result.contains("65534"))
            #expect(try await bucket.object(withID: object.uuid!).version == 1)
        }
    }

    @Test func `A point takes the place of any dictionary`() async throws {
        try await withBucket { bucket in
            for forced in [true, false] {
                let object = bucket.createObject(withID: "place")
                object.setObject(["lat": 1, "street": 2], forKey: "location")
                try await object.saveAllFields()
                let point = GeoPoint(latitude: 3, longitude: 4)
                object.setGeoPoint(point, forKey: "location")
                try await object.save(forced: forced)
                let read = try await bucket.object(withID: "place")
                #expect(read.getGeoPoint(forKey: "location") == point)
            }
        }
    }
}
