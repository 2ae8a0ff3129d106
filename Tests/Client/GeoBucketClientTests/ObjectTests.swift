import Foundation
import GeoBucketClient
import KiiCompatibility
import TestSupport
import Testing

/// Objects of a bucket: what is written is what is read, and saving means what it says.
@Suite struct ObjectTests {
    private static func outcome(_ body: () async throws -> Void) async -> String {
        do {
            try await body()
            return "done"
        } catch ClientFailure.refused(let failure) {
            return failure.errorCode
        } catch {
            return "\(error)"
        }
    }

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
            let outcome = await Self.outcome { try await object.save() }
            #expect(outcome.contains("65535") && outcome.contains("65534"))
            #expect(try await bucket.object(withID: object.uuid!).version == 1)
        }
    }

    @Test func `Save sends what was changed, saveAllFields replaces everything`() async throws {
        try await withBucket { bucket in
            let mine = bucket.createObject(withID: "shared")
            mine.setObject(1, forKey: "a")
            #expect(await Self.outcome { try await mine.save() } == "OBJECT_NOT_FOUND")
            try await mine.saveAllFields()
            let theirs = try await bucket.object(withID: "shared")
            theirs.setObject(2, forKey: "b")
            theirs.setObject(["x": 1, "y": 1], forKey: "nested")
            try await theirs.save()
            #expect(theirs.version == 3 || theirs.version == 2)

            // A dictionary replaces the one that is there, a null is stored, a removal removes.
            mine.setObject(["x": 2], forKey: "nested")
            mine.setObject(JSONValue.null, forKey: "null")
            mine.remove(forKey: "a")
            try await mine.save()
            let read = try await bucket.object(withID: "shared")
            #expect(read["nested"]?.text == #"{"x":2}"# && read["null"] == .null)
            #expect(read.int(forKey: "b") == 2 && !read.hasObject("a"))

            mine.setObject(5, forKey: "c")
            try await mine.saveAllFields()
            let names = try await bucket.object(withID: "shared").document.names
            #expect(names.filter { !$0.hasPrefix("_") } == ["nested", "null", "c"])
        }
    }

    @Test func `A save of what is late overwrites nothing, and leaves the object here as it is`()
        async throws
    {
        try await withBucket { bucket in
            let fix = bucket.createObject(withID: "tracker")
            fix.setObject(20, forKey: "at")
            #expect(try await fix.saveAllFields(ifNewer: "at"))
            let late = bucket.createObject(withID: "tracker")
            late.setObject(10, forKey: "at")
            #expect(try await !late.saveAllFields(ifNewer: "at"))
            #expect(late.version == nil && late.int(forKey: "at") == 10)
            late.setObject(30, forKey: "at")
            #expect(try await late.saveAllFields(ifNewer: "at"))
            #expect(late.version == 2)
            let ids = try await bucket.putMany(
                ["tracker", "other"].map { .object(["_id": .string($0), "at": .int(25)]) },
                ifNewer: "at")
            #expect(ids == ["tracker", "other"])
            #expect(try await bucket.object(withID: "tracker").int(forKey: "at") == 30)
            #expect(try await bucket.object(withID: "other").version == 1)
            let new = bucket.createObject()
            await #expect(throws: ClientFailure.self) {
                try await new.saveAllFields(ifNewer: "at")
            }
        }
    }

    @Test func `A save that is not forced fails over a newer version`() async throws {
        try await withBucket { bucket in
            let first = bucket.createObject(withID: "one")
            try await first.saveAllFields(forced: false)
            let again = bucket.createObject(withID: "one")
            #expect(
                await Self.outcome { try await again.saveAllFields(forced: false) }
                    == "OBJECT_ALREADY_EXISTS")
            again.setObject(1, forKey: "n")
            #expect(await Self.outcome { try await again.save(forced: false) }.contains("refresh"))
            try await again.refresh()
            again.setObject(1, forKey: "n")
            try await again.save(forced: false)
            for value in [JSONValue.int(2), .object(["deep": .int(2)])] {
                first.setObject(value, forKey: "n")
                #expect(
                    await Self.outcome { try await first.save(forced: false) }
                        == "OBJECT_VERSION_IS_STALE")
                #expect(
                    await Self.outcome { try await first.saveAllFields(forced: false) }
                        == "OBJECT_VERSION_IS_STALE")
            }
            try await first.save(forced: true)
            #expect(try await bucket.object(withID: "one")["n"]?.text == #"{"deep":2}"#)
        }
    }

    @Test func `Two that set different fields at once lose nothing`() async throws {
        try await withBucket { bucket in
            try await bucket.createObject(withID: "both").saveAllFields()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        let object = bucket.createObject(withID: "both")
                        object.setObject(["n": number], forKey: "f\(number)")
                        try await object.save()
                    }
                }
                try await group.waitForAll()
            }
            let names = try await bucket.object(withID: "both").document.names
            #expect(Set(names).isSuperset(of: (0..<20).map { "f\($0)" }))
        }
    }

    @Test func `A deleted object is gone and can be saved as a new one`() async throws {
        try await withBucket { bucket in
            let object = bucket.createObject(withID: "gone")
            object.setObject(1, forKey: "n")
            try await object.saveAllFields()
            try await object.delete()
            #expect(object.uuid == nil && object.version == nil)
            #expect(
                await Self.outcome { _ = try await bucket.object(withID: "gone") }
                    == "OBJECT_NOT_FOUND")
            try await object.save()
            #expect(object.uuid != "gone" && object.int(forKey: "n") == 1)
        }
    }

    @Test func `An object expires when it was told to, until it is told otherwise`() async throws {
        try await withBucket { bucket in
            let moment = Date(timeIntervalSince1970: 4_102_444_800)
            let object = bucket.createObject(withID: "short")
            object.expires = moment
            try await object.saveAllFields()
            object.setObject(1, forKey: "n")
            try await object.save()
            let read = try await bucket.object(withID: "short")
            #expect(read.expires == moment && read.int(forKey: "n") == 1)
            read.expires = nil
            try await read.save()
            #expect(try await bucket.object(withID: "short").expires == nil)
            read.expires = Date(timeIntervalSince1970: 1)
            try await read.save()
            #expect(
                await Self.outcome { _ = try await bucket.object(withID: "short") }
                    == "OBJECT_NOT_FOUND")
        }
    }

    @Test func `An object keeps its expiry whichever way it is saved`() async throws {
        struct Model: Codable, Sendable { var n: Int }
        try await withBucket { bucket in
            let moment = Date(timeIntervalSince1970: 4_102_444_800)
            let object = bucket.createObject(withID: "short")
            object.setObject(1, forKey: "n")
            object.expires = moment
            try await object.saveAllFields()
            try await object.saveAllFields()
            #expect(try await bucket.object(withID: "short").expires == moment)
            let read = try await bucket.object(withID: "short")
            read.setObject(2, forKey: "n")
            try await read.saveAllFields(forced: false)
            #expect(try await bucket.object(withID: "short").expires == moment)
            let unread = bucket.createObject(withID: "short")
            unread.setObject(["deep": 1], forKey: "dictionary")
            try await unread.save()
            #expect(try await bucket.object(withID: "short").expires == moment)
            var stored = try await bucket.object(of: Model.self, withID: "short")
            stored.model.n = 3
            try await bucket.save(&stored)
            #expect(try await bucket.object(withID: "short").expires == moment)
            try await read.delete()
            try await read.save()
            #expect(try await bucket.object(withID: read.uuid!).expires == moment)
            read.expires = nil
            try await read.saveAllFields()
            #expect(try await bucket.object(withID: read.uuid!).expires == nil)
            read.expires = .distantFuture
            try await read.save()
            let latest = Date(timeIntervalSince1970: 9_007_199_254_740.991)
            #expect(
                try await bucket.object(withID: read.uuid!).expires == min(latest, .distantFuture))
            read.expires = Date(timeIntervalSince1970: 1e300)
            try await read.save()
            #expect(try await bucket.object(withID: read.uuid!).expires == latest)
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

    @Test func `An object that was read in part does not replace the whole`() async throws {
        struct Model: Codable, Sendable { var a: Int }
        try await withBucket { bucket in
            let whole = bucket.createObject(withID: "whole")
            whole.setObject(1, forKey: "a")
            whole.setObject(2, forKey: "b")
            try await whole.saveAllFields()
            let query = BucketQuery()
            query.fields = ["a"]
            let part = try await bucket.execute(query).objects[0]
            #expect(await Self.outcome { try await part.saveAllFields() }.contains("refresh"))
            for try await stored in bucket.objects(of: Model.self, matching: query) {
                var stored = stored
                for unknownFields in [UnknownFields.kept, .dropped] {
                    _ = await #expect(throws: ClientFailure.self) {
                        try await bucket.save(&stored, unknownFields: unknownFields, forced: true)
                    }
                }
            }
            part.setObject(3, forKey: "a")
            try await part.save()
            try await part.refresh()
            part.setObject(4, forKey: "c")
            try await part.saveAllFields()
            #expect(
                try await bucket.object(withID: "whole").document.names.suffix(3)
                    == ["a", "b", "c"])
        }
    }

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

    @Test func `The service takes request keys and does a repeat once`() async throws {
        try await TestService.with { service in
            var configuration = ClientConfiguration()
            configuration.usesRequestKeys = true
            let address = ServiceAddress(host: "127.0.0.1", port: service.port)
            try await GeoBucketClient.with(address, configuration: configuration) { client in
                let bucket = client.bucket("mydata")
                for _ in 0..<2 { try await bucket.createObject().save() }
                #expect(try await bucket.count() == 2)
                let params = try JSONValue(
                    parsing: #"{"bucket":"mydata","object":{},"requestKey":"same"}"#)
                let first = try await client.call("object.create", params)
                #expect(try await client.call("object.create", params) == first)
                #expect(try await bucket.count() == 3)
            }
        }
    }

    @Test func `A URI leads back to its object, also one that Kii wrote`() async throws {
        try await withBucket { bucket in
            let client = bucket.client
            for name in ["shops", "users/alice/notes", "things/t1/log"] {
                let object = client.bucket(name).createObject(withID: "id-1")
                let uri = object.objectURI!
                for text in [uri, uri.replacing("geobucket:", with: "kiicloud:")] {
                    let found = GeoObject(uri: text, client: client)
                    #expect(found?.bucket.name == name && found?.uuid == "id-1", "\(text)")
                }
            }
            #expect(bucket.createObject().objectURI == nil)
            #expect(GeoObject(uri: "http://shops/1", client: client) == nil)
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
