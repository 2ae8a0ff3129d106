import KiiCompatibility
import TestSupport
import Testing

/// The limit of a page, and what may end it before.
@Suite struct KiiPageTests {
    @Test func `A limit below zero is a query that is not supported`() async throws {
        try await withBucket { bucket in
            try await bucket.createObject().save()
            let query = KiiQuery(clause: nil)
            query.limit = -1
            let failure = await #expect(throws: ClientFailure.self) {
                try await bucket.execute(query)
            }
            guard case .refused(let refusal)? = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(refusal.path == "bestEffortLimit")
            #expect(KiiError.error(for: failure!).code == KiiError.codeQueryNotSupported())
            #expect(KiiError.codeQueryNotSupported() == 604)
        }
    }

    @Test func `A page of large objects ends before its limit, and the next goes on`() async throws
    {
        try await withBucket { bucket in
            let text = JSONValue.string(String(repeating: "x", count: 60_000))
            for number in 0..<30 {
                _ = try await bucket.putMany([.object(["n": .int(number), "text": text])])
            }
            let query = KiiQuery(clause: nil)
            (query.limit, query.order) = (30, [.init("n")])
            let page = try await bucket.execute(query)
            #expect((1..<30).contains(page.objects.count))
            let next = try #require(page.nextQuery)
            let rest = try await bucket.execute(next)
            #expect(rest.nextQuery == nil)
            let numbers = (page.objects + rest.objects).map { $0.int(forKey: "n") }
            #expect(numbers == Array(0..<30))
        }
    }
}
