import Foundation
import GeoBucketClient
import Testing

/// When an object expires, and which saves keep that.
@Suite struct ObjectExpiryTests {
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
                await outcome { _ = try await bucket.object(withID: "short") }
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
}
