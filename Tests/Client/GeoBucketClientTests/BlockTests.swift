import Foundation
import GeoBucketClient
import KiiCompatibility
import TestSupport
import Testing

/// Blocks change what their caller owns, as Kii's samples do, in Swift 6.
@Suite struct BlockTests {
    private static func filled(
        _ body: @escaping @Sendable (KiiBucket) async throws -> Void
    ) async throws {
        try await withBucket { bucket in
            _ = try await bucket.putMany((0..<3).map { .object(["n": .int($0)]) })
            try await body(bucket)
        }
    }

    /// A screen of an app's.
    @MainActor private final class Screen {
        var objectList: [KiiObject] = []
        var message = ""
        var wasOnItsActor = false

        func load(_ bucket: KiiBucket, _ done: @escaping () -> Void) {
            let allQuery = KiiQuery(clause: nil)
            allQuery.sort(byDesc: "_created")
            bucket.execute(allQuery) { (query, bucket, result, nextQuery, error) -> Void in
                MainActor.preconditionIsolated()
                if error != nil {
                    self.message = "Query failed"
                } else {
                    self.objectList.append(contentsOf: result as! [KiiObject])
                }
                done()
            }
        }
    }

    @Test @MainActor func `A block of the main actor is called there`() async throws {
        let screen = Screen()
        try await TestService.with { @MainActor service in
            let address = ServiceAddress(host: "127.0.0.1", port: service.port)
            let client = ServiceClient(address)
            let bucket = client.bucket("mydata")
            try await bucket.createObject().save()
            await withCheckedContinuation { continuation in
                screen.load(bucket) { continuation.resume() }
            }
            #expect(screen.objectList.count == 1 && screen.message.isEmpty)
            await client.close()
            await withCheckedContinuation { continuation in
                screen.load(bucket) { continuation.resume() }
            }
            #expect(screen.objectList.count == 1 && screen.message == "Query failed")
        }
    }

    private actor Keeper {
        var objects: [KiiObject] = []

        func load(_ bucket: KiiBucket) async {
            await withCheckedContinuation { continuation in
                bucket.execute(nil) { _, _, results, _, _ in
                    self.preconditionIsolated()
                    self.objects += results as! [KiiObject]
                    continuation.resume()
                }
            }
        }
    }

    @Test func `A block of an actor is called there`() async throws {
        try await Self.filled { bucket in
            let keeper = Keeper()
            await keeper.load(bucket)
            #expect(await keeper.objects.count == 3)
        }
    }

    /// Kii's sample of paging by blocks.
    private static func collect(_ bucket: KiiBucket, _ done: DispatchSemaphore) -> [Any] {
        let query = KiiQuery(clause: nil)
        query.limit = 2
        var allResults = [Any]()
        bucket.execute(query) {
            (
                firstQuery: KiiQuery?, bucket: KiiBucket, results: [Any]?, nextQuery: KiiQuery?,
                error: Error?
            ) -> Void in
            allResults.append(contentsOf: results!)
            if nextQuery != nil {
                bucket.execute(
                    nextQuery!,
                    with: {
                        (
                            query: KiiQuery?, bucket: KiiBucket, results: [Any]?, nextQuery2,
                            error: Error?
                        ) -> Void in
                        allResults.append(contentsOf: results!)
                        done.signal()
                    })
            }
        }
        done.wait()
        return allResults
    }

    @Test func `Blocks collect results in a variable around them`() async throws {
        try await Self.filled { bucket in
            let count = await withCheckedContinuation { continuation in
                Thread {
                    let results = Self.collect(bucket, DispatchSemaphore(value: 0))
                    continuation.resume(returning: results.count)
                }
                .start()
            }
            #expect(count == 3)
        }
    }

    @Test @MainActor func `A save by a block sends the object as it was at the call`() async throws
    {
        typealias Save = (KiiObject, @escaping KiiObject.ObjectBlock) -> Void
        let saves: [Save] = [
            { $0.save($1) }, { $0.save(true, with: $1) }, { $0.save(false, with: $1) },
            { $0.saveAllFields(true, with: $1) },
        ]
        try await TestService.with { @MainActor service in
            let address = ServiceAddress(host: "127.0.0.1", port: service.port)
            let client = ServiceClient(address)
            let bucket = client.bucket("mydata")
            for save in saves {
                let object = bucket.createObject()
                // The first save creates the object, the second changes it.
                for number in [1, 3] {
                    object.setObject(number, forKey: "n")
                    await withCheckedContinuation { continuation in
                        save(object) { _, error in
                            #expect(error == nil)
                            continuation.resume()
                        }
                        object.setObject(number + 1, forKey: "n")
                    }
                    let saved = try await bucket.object(withID: object.uuid ?? "")
                    #expect(saved.int(forKey: "n") == number)
                    #expect(object.int(forKey: "n") == number + 1)
                }
                // What was changed after the call is left for the next save.
                try await object.save()
                #expect(try await bucket.object(withID: object.uuid!).int(forKey: "n") == 4)
            }
            await client.close()
        }
    }

    /// An app does not wait for a block before it saves again.
    @Test @MainActor func `Saves that are called in a row are one object, in that order`()
        async throws
    {
        try await TestService.with { @MainActor service in
            let address = ServiceAddress(host: "127.0.0.1", port: service.port)
            let client = ServiceClient(address)
            let bucket = client.bucket("mydata")
            let object = bucket.createObject()
            var ended: [Int] = []
            await withCheckedContinuation { continuation in
                for number in 1...20 {
                    object.setObject(number, forKey: "n")
                    // Its own saves are no versions of others.
                    object.save(number.isMultiple(of: 2)) { _, error in
                        #expect(error == nil, "\(number)")
                        ended.append(number)
                        if ended.count == 20 { continuation.resume() }
                    }
                }
                object.setObject(21, forKey: "n")
            }
            #expect(Set(ended).count == 20)
            #expect(try await bucket.count() == 1)
            let saved = try await bucket.object(withID: object.uuid ?? "")
            #expect(saved.int(forKey: "n") == 20)
            #expect(object.int(forKey: "n") == 21)
            await client.close()
        }
    }

    @Test func `Blocks are given what they were asked with`() async throws {
        try await Self.filled { bucket in
            let object = bucket.createObject()
            await withCheckedContinuation { continuation in
                object.save { (saved: KiiObject?, error: Error?) -> Void in
                    #expect(saved === object && error == nil && saved?.uuid != nil)
                    continuation.resume()
                }
            }
            await withCheckedContinuation { continuation in
                bucket.count {
                    (counted: KiiBucket?, query: KiiQuery?, count: UInt, error: Error?) in
                    #expect(counted?.name == bucket.name && query != nil)
                    #expect(count == 4 && error == nil)
                    continuation.resume()
                }
            }
            let query = KiiQuery(clause: .equals("n", value: 1))
            await withCheckedContinuation { continuation in
                bucket.count(with: query) { _, asked, count, _ in
                    #expect(asked === query && count == 1)
                    continuation.resume()
                }
            }
            await withCheckedContinuation { continuation in
                bucket.delete { deleted, error in
                    #expect(deleted.name == bucket.name && error == nil)
                    continuation.resume()
                }
            }
            let left = try await bucket.count()
            #expect(left == 0)
        }
    }
}
