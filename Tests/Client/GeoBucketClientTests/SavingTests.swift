import TestSupport
import Testing

@testable import GeoBucketClient

/// What an object takes in of the answers to its saves, whatever happened here meanwhile.
@Suite struct SavingTests {
    @Test func `A change after a refresh is not taken for one that was saved`() async throws {
        try await withBucket { bucket in
            let object = bucket.createObject()
            try await object.save()
            for number in 0..<3 { object.setObject(number, forKey: "n") }
            let sent = object.state.withLock { $0 }
            try await object.refresh()
            object.setObject(7, forKey: "late")
            object.finish(sent, sent)
            try await object.save()
            #expect(try await bucket.object(withID: object.uuid!).int(forKey: "late") == 7)
        }
    }

    @Test func `Older answers do not count over newer ones, nor any after a delete`() async throws {
        try await withBucket { bucket in
            let object = bucket.createObject()
            try await object.save()
            let first = object.state.withLock { $0 }
            object.setObject(1, forKey: "n")
            try await object.save()
            object.finish(first, first)
            #expect(object.version == 2)
            var older = first
            older.version = 0
            object.finish(first, older)
            #expect(object.version == 2)
            try await object.delete()
            object.finish(first, first)
            #expect(object.uuid == nil && object.version == nil)
        }
    }
}
