import GeoBucketClient
import Glibc
import TestSupport
import Testing

/// What is done for each of many fields or members costs as much as for each of few.
@Suite struct LinearTimeTests {
    private struct Item: Codable, Equatable { var name: String }

    /// The processor time of this thread for `body`, the least of a few times.
    private static func time(_ body: () throws -> Void) rethrows -> Double {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        var least = Double.infinity
        for _ in 0..<3 {
            let start = now()
            try body()
            least = min(least, now() - start)
        }
        return least
    }

    /// How many times as long eight times as many take: 8 if each costs the same, 64 if each costs
    /// as much as there are others.
    private static func growth(_ run: (_ count: Int) throws -> Void) rethrows -> Double {
        try time { try run(2_000) } / time { try run(250) }
    }

    private static func items(_ count: Int) -> [String: Item] {
        .init(uniqueKeysWithValues: (0..<count).map { ("key-\($0)", Item(name: "\($0)")) })
    }

    @Test func `A dictionary of models is decoded and encoded in time with its size`() throws {
        let decoding = try Self.growth { count in
            let document = JSONValue.object(
                (0..<count).map { .init("key-\($0)", .object(["name": .string("\($0)")])) })
            let items = try ModelDecoder.decode([String: Item].self, from: document)
            #expect(items.count == count && items["key-7"]?.name == "7")
        }
        #expect(decoding < 24, "\(decoding)")
        let encoding = try Self.growth { count in
            let document = try ModelEncoder.encode(Self.items(count))
            #expect(document.members.count == count && document["key-7"]?["name"]?.string == "7")
        }
        #expect(encoding < 24, "\(encoding)")
        let listing = try Self.growth { count in
            let document = try ModelEncoder.encode((0..<count).map { Item(name: "\($0)") })
            #expect(document[7]?["name"]?.string == "7")
        }
        #expect(listing < 24, "\(listing)")
    }

    @Test func `Fields are set, changed and removed in time with their number`() throws {
        let setting = Self.growth { count in
            let object = ServiceClient().bucket("some").createObject()
            for number in 0..<count { object.setObject(number, forKey: "field-\(number)") }
            for number in 0..<count { object.setObject(-number, forKey: "field-\(number)") }
            for number in stride(from: 0, to: count, by: 2) {
                object.remove(forKey: "field-\(number)")
            }
            #expect(object.document.names.count == count / 2)
            #expect(object.document.names.first == "field-1" && object.int(forKey: "field-7") == -7)
        }
        #expect(setting < 24, "\(setting)")
    }

    @Test func `Fields stand in the order in which they came, changes are sent in theirs`()
        async throws
    {
        try await withBucket { bucket in
            let object = bucket.createObject(withID: "one")
            for name in ["c", "a", "e\u{301}", "b"] { object.setObject(name, forKey: name) }
            object.setObject("other", forKey: "\u{E9}")
            object.setObject(1, forKey: "c")
            object.remove(forKey: "a")
            object.setObject(2, forKey: "a")
            let names = ["c", "e\u{301}", "b", "\u{E9}", "a"]
            #expect(
                object.document.names.dropFirst().map { Array($0.utf8) }
                    == names.map { Array($0.utf8) })
            try await object.saveAllFields()
            let read = try await bucket.object(withID: "one")
            #expect(
                read.document.names.suffix(5).map { Array($0.utf8) } == names.map { Array($0.utf8) }
            )
            #expect(read.string(forKey: "e\u{301}") == "e\u{301}")
            #expect(read.string(forKey: "\u{E9}") == "other")
        }
    }
}
