import Foundation
import KiiCompatibility
import TestSupport
import Testing

/// What Kii's pages show for writing, reading and querying, by code in the manner of theirs,
/// against a service of its own process.
@Suite(.serialized) struct KiiExampleTests {
    /// Runs a script that blocks, on a thread of its own, with `Kii` begun.
    private static func script(_ body: @escaping @Sendable () throws -> Void) async throws {
        try await withService { try await onThread(body) }
    }

    private static func withService(_ body: () async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await Program.serve(store: folder + "/s.sqlite", folder: folder) { _, port in
                Kii.begin(ServiceAddress(host: "127.0.0.1", port: port), userID: "alice")
                try await body()
                await Kii.end()
            }
        }
    }

    private static func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: Result { try body() }) }.start()
        }
    }

    @Test func `A second begin and an end close the connection before`() async throws {
        try await Self.withService {
            let first = Kii.service
            try await first.ping()
            Kii.begin(first.address)
            let second = Kii.service
            _ = try await waited { (try? await first.ping()) == nil }
            await #expect(throws: ClientFailure.closed) { try await first.ping() }
            try await second.ping()
            await Kii.end()
            await #expect(throws: ClientFailure.closed) { try await second.ping() }
        }
    }

    @Test func `Without a service a blocking call ends in seconds, with a sentence for users`()
        async throws
    {
        Kii.begin(ServiceAddress(host: "127.0.0.1", port: 1))
        #expect(Kii.service.configuration.retryTime == .seconds(2))
        #expect(Kii.service.configuration.connectTimeout == .seconds(2))
        try await Self.onThread {
            let start = ContinuousClock.now
            let error = #expect(throws: NSError.self) {
                try Kii.bucket(withName: "mydata").countObjectsSynchronous()
            }
            #expect(error?.code == KiiError.codeUnableToConnectToInternet())
            // With the time of the client's own configuration it would be fourteen at least.
            #expect(ContinuousClock.now - start < .seconds(8))
            let sentence = error?.localizedDescription ?? ""
            #expect(sentence.hasPrefix("no service answers at 127.0.0.1:1"), "\(sentence)")
            #expect(!sentence.contains("geobucket"))
        }
        await Kii.end()
    }

    @Test func `Creating, reading, updating and deleting, blocking`() async throws {
        try await Self.script {
            let bucket = Kii.bucket(withName: "mydata")
            let object = bucket.createObject()
            object.setObject(NSNumber(value: 987 as Int32), forKey: "score")
            object.setObject("easy", forKey: "mode")
            object.setObject(NSNumber(value: false as Bool), forKey: "premiumUser")
            let point = KiiGeoPoint(latitude: 35.658603, andLongitude: 139.745433)
            object.setGeoPoint(point, forKey: "location1")
            let jsonObject: Dictionary = ["score": 987, "mode": "easy"] as [String: Any]
            object.setObject(jsonObject, forKey: "myObject")
            object.setObject([["Name": "Alice", "age": 30]] as [[String: Any]], forKey: "myArray")
            try object.saveSynchronous()

            let read = KiiObject(uri: object.objectURI!)!
            try read.refreshSynchronous()
            #expect((read.getForKey("score") as! NSNumber).intValue == 987)
            #expect(read.getForKey("mode") as! String == "easy")
            #expect((read.getForKey("premiumUser") as! NSNumber).boolValue == false)
            #expect(read.getGeoPoint(forKey: "location1")?.latitude == 35.658603)
            #expect((read.getForKey("myObject") as! NSDictionary)["mode"] as? String == "easy")
            #expect((read.getForKey("myArray") as! NSArray).count == 1)
            #expect(read.dictionaryValue().keys.contains("_created"))

            let fixed = bucket.createObject(withID: "score_userX")
            fixed.setObject("John Doe Jr", forKey: "name")
            try fixed.saveAllFieldsSynchronous(true)
            read.setObject(NSNumber(value: 988), forKey: "score")
            try read.saveSynchronous(false)
            object.setObject("hard", forKey: "mode")
            #expect(throws: ClientFailure.self) { try object.saveSynchronous(false) }
            #expect(throws: ClientFailure.self) { try object.saveAllFieldsSynchronous(false) }
            object.remove(forKey: "myObject")
            try object.saveSynchronous(true)
            try read.refreshSynchronous()
            #expect(read.getForKey("mode") as! String == "hard" && !read.hasObject("myObject"))
            #expect((read.getForKey("score") as! NSNumber).intValue == 988)

            try read.deleteSynchronous()
            do {
                try object.refreshSynchronous()
            } catch let error as NSError {
                print(error.code, error.kiiErrorSummary() ?? "", error.localizedDescription)
            }
            #expect(try bucket.countObjectsSynchronous() == 1)
            try bucket.deleteSynchronous()
        }
    }

    @Test func `Querying by values, page after page, and counting`() async throws {
        try await Self.script {
            let bucket = KiiUser.current()!.bucket(withName: "people")
            for age in 10..<40 {
                let person = bucket.createObject()
                person.setObject(age % 2 == 0 ? "Female" : "Male", forKey: "gender")
                person.setObject(NSNumber(value: age as Int), forKey: "age")
                try person.saveSynchronous()
            }
            let clause1 = KiiClause.equals("gender", value: "Female")
            let clause2 = KiiClause.greaterThanOrEqual("age", value: NSNumber(value: 18 as Int))
            let query = KiiQuery(clause: KiiClause.andClauses([clause1, clause2]))
            query.sort(byAsc: "age")
            query.limit = 10
            var nextQuery: KiiQuery?
            var results = try bucket.executeQuerySynchronous(query, nextQuery: &nextQuery)
            #expect(results.map { $0.int(forKey: "age") } == Array(stride(from: 18, to: 38, by: 2)))
            results = try bucket.executeQuerySynchronous(nextQuery!, nextQuery: &nextQuery)
            #expect(results.map { $0.int(forKey: "age") } == [38] && nextQuery == nil)

            let all = try bucket.executeQuerySynchronous(
                KiiQuery(clause: nil), nextQuery: &nextQuery)
            #expect(all.count == 30 && nextQuery == nil)
            let older = KiiQuery(clause: .greaterThanOrEqual("age", value: NSNumber(value: 25)))
            #expect(try bucket.countObjectsSynchronous(older, error: ()) == 15)
            let recent = Int64(Date().timeIntervalSince1970 - 24 * 60 * 60) * 1000
            let fresh = KiiClause.andClauses([
                .greaterThan("_created", value: NSNumber(value: recent)),
                .equals("_version", value: NSNumber(value: 1)),
            ])
            #expect(try bucket.countObjectsSynchronous(KiiQuery(clause: fresh)) == 30)
            let type = KiiFieldType.integer
            let typed = KiiQuery(clause: .hasField("age", andType: type))
            #expect(try bucket.countObjectsSynchronous(typed) == 30)
            #expect(try Kii.bucket(withName: "people").countObjectsSynchronous() == 0)
            // Nobody has logged in.
            let mine = KiiClause.equals("_owner", value: KiiUser.current()!.userID!)
            #expect(try bucket.countObjectsSynchronous(KiiQuery(clause: mine)) == 0)
            #expect(try bucket.executeQuerySynchronous(query, nextQuery: nil).count == 10)
        }
    }

    @Test func `Querying by place, with distances, by blocks`() async throws {
        try await Self.withService {
            let bucket = Kii.bucket(withName: "MyBucket")
            for (name, latitude, longitude) in [
                ("tower", 35.658603, 139.745433), ("station", 35.681382, 139.766084),
                ("far", 36.5, 140.5),
            ] {
                let object = bucket.createObject(withID: name)
                object.setGeoPoint(
                    KiiGeoPoint(latitude: latitude, andLongitude: longitude), forKey: "location")
                try await withCheckedThrowingContinuation { continuation in
                    object.saveAllFields(true) { _, error in
                        continuation.resume(with: error.map { .failure($0) } ?? .success(()))
                    }
                }
            }
            let sw = KiiGeoPoint(latitude: 35.658603, andLongitude: 139.745433)
            let ne = KiiGeoPoint(latitude: 36.069082, andLongitude: 140.07843)
            let box = KiiClause.geoBox("location", northEast: ne, southWest: sw)
            #expect(try await Self.ids(bucket, KiiQuery(clause: box)) == ["tower", "station"])
            #expect(
                try await Self.ids(bucket, KiiQuery(clause: .notClause(box))) == ["far"])
            // Kii's own page hands over the corners the wrong way round.
            let swapped = KiiClause.geoBox("location", northEast: sw, southWest: ne)
            let failure = await #expect(throws: ClientFailure.self) {
                try await bucket.execute(KiiQuery(clause: swapped))
            }
            #expect("\(failure!)".contains("bucketQuery.clause.box"))

            let near = KiiClause.geoDistance(
                "location", center: sw, radius: 5_000, putDistanceInto: "distance_from_center1")
            let query = KiiQuery(clause: near)
            query.sort(byDesc: "_calculated.distance_from_center1")
            #expect(try await Self.ids(bucket, query) == ["station", "tower"])
            let first = try await bucket.execute(query).objects[0]
            let calculated = first.getForKey("_calculated") as! NSDictionary
            let distance = calculated["distance_from_center1"] as! NSNumber
            #expect(abs(distance.doubleValue - 3_146.5) < 1)
            #expect(first.distance("distance_from_center1") == distance.doubleValue)
        }
    }

    @Test func `Collecting in a block`() async throws {
        try await Self.script {
            let bucket = Kii.bucket(withName: "AppBucket")
            for _ in 0..<3 { try bucket.createObject().saveSynchronous() }
            #expect(Self.collected(from: bucket).count == 3)
        }
    }

    private static func collected(from bucket: KiiBucket) -> [Any] {
        let query = KiiQuery(clause: nil)
        let done = DispatchSemaphore(value: 0)
        var allResults = [Any]()
        bucket.execute(query) { (query, bucket, results, nextQuery, error) -> Void in
            defer { done.signal() }
            if error != nil { return }
            allResults.append(contentsOf: results!)
        }
        done.wait()
        return allResults
    }

    /// The ids of one page, by the form with a block.
    private static func ids(_ bucket: KiiBucket, _ query: KiiQuery) async throws -> [String] {
        try await withCheckedThrowingContinuation { continuation in
            bucket.execute(query) { _, _, results, _, error in
                if let error { return continuation.resume(throwing: error) }
                continuation.resume(returning: results!.map { ($0 as! KiiObject).uuid! })
            }
        }
    }
}
