import GeoBucketClient
import TestSupport
import Testing

/// Objects of a bucket: saving means what it says.
@Suite struct ObjectTests {
    @Test func `Save sends what was changed, saveAllFields replaces everything`() async throws {
        try await withBucket { bucket in
            let mine = bucket.createObject(withID: "shared")
            mine.setObject(1, forKey: "a")
            #expect(await outcome { try await mine.save() } == "OBJECT_NOT_FOUND")
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
                await outcome { try await again.saveAllFields(forced: false) }
                    == "OBJECT_ALREADY_EXISTS")
            again.setObject(1, forKey: "n")
            #expect(await outcome { try await again.save(forced: false) }.contains("refresh"))
            try await again.refresh()
            again.setObject(1, forKey: "n")
            try await again.save(forced: false)
            for value in [JSONValue.int(2), .object(["deep": .int(2)])] {
                first.setObject(value, forKey: "n")
                #expect(
                    await outcome { try await first.save(forced: false) }
                        == "OBJECT_VERSION_IS_STALE")
                #expect(
                    await outcome { try await first.saveAllFields(forced: false) }
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
                await outcome { _ = try await bucket.object(withID: "gone") }
                    == "OBJECT_NOT_FOUND")
            try await object.save()
            #expect(object.uuid != "gone" && object.int(forKey: "n") == 1)
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
            #expect(await outcome { try await part.saveAllFields() }.contains("refresh"))
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
}
