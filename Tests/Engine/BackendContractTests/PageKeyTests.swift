import JSONText
import Objects
import TestSupport
import Testing

/// What the specification says of page keys, through the public interface alone.
@Suite struct PageKeyTests {
    private static let all = #"{"clause":{"type":"all"},"orderBy":"n"}"#

    /// Ten objects `o0`…`o9` with `n` from 0 through 9, and the key behind the third.
    private static func withKey(
        on kind: BackendKind, _ body: (_ client: DirectClient, _ key: String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await withBackend(kind, path: folder + "/store.sqlite") { client in
                try await fill(client)
                let page = try await ask(client, all, limit: 3)
                #expect(page.ids == ["o0", "o1", "o2"])
                try await body(client, try #require(page.nextKey))
            }
        }
    }

    private static func fill(_ client: some ContractClient, bucket: String = "keys") async throws {
        let objects = (0..<10).map { #"{"_id":"o\#($0)","n":\#($0)}"# }
        try await client.value(
            "object.putMany",
            #"{"bucket":"\#(bucket)","objects":[\#(objects.joined(separator: ","))]}"#)
    }

    private static func params(
        _ query: String, _ bucket: String, _ limit: Int, _ key: String?, _ more: String
    ) -> String {
        let key = key.map { #","paginationKey":\#(JSONValue.string($0).text)"# } ?? ""
        return #"{"bucket":"\#(bucket)","bestEffortLimit":\#(limit),"bucketQuery":\#(query)"#
            + key + more + "}"
    }

    private static func ask(
        _ client: some ContractClient, _ query: String, bucket: String = "keys", limit: Int = 200,
        key: String? = nil, more: String = ""
    ) async throws -> Page {
        try Page(try await client.call("bucket.query", params(query, bucket, limit, key, more)))
    }

    private static func refusal(
        _ client: some ContractClient, _ query: String, bucket: String = "keys", key: String
    ) async throws -> Refusal? {
        try await client.refusal("bucket.query", params(query, bucket, 3, key, ""))
    }

    private static let invalid = Refusal(errorCode: "INVALID_INPUT_DATA", path: "paginationKey")

    @Test(arguments: BackendKind.all)
    func `a key goes on behind its object, with another limit and other fields`(
        on kind: BackendKind
    ) async throws {
        try await Self.withKey(on: kind) { client, key in
            let page = try await Self.ask(
                client, Self.all, limit: 5, key: key, more: #","fields":[]"#)
            #expect(page.ids == ["o3", "o4", "o5", "o6", "o7"])
            let last = try await Self.ask(client, Self.all, limit: 2, key: page.nextKey)
            #expect(last.ids == ["o8", "o9"])
            #expect(last.nextKey == nil)
        }
    }

    @Test(arguments: BackendKind.all)
    func `a key outlives the object it names`(on kind: BackendKind) async throws {
        try await Self.withKey(on: kind) { client, key in
            try await client.value("object.delete", #"{"bucket":"keys","id":"o2"}"#)
            let afterDelete = try await Self.ask(client, Self.all, key: key)
            #expect(afterDelete.ids == (3...9).map { "o\($0)" })
            try await client.value("object.put", #"{"bucket":"keys","id":"o2","object":{"n":5}}"#)
            let afterReturn = try await Self.ask(client, Self.all, key: key)
            #expect(afterReturn.ids == ["o3", "o4", "o5", "o2", "o6", "o7", "o8", "o9"])
        }
    }

    @Test(arguments: BackendKind.all)
    func `a key with another clause, order or bucket is refused`(on kind: BackendKind) async throws
    {
        try await Self.withKey(on: kind) { client, key in
            try await Self.fill(client, bucket: "others")
            for query in [
                #"{"clause":{"type":"hasField","field":"n"},"orderBy":"n"}"#,
                #"{"clause":{"type":"all"},"orderBy":"n","descending":true}"#,
                #"{"clause":{"type":"all"},"orderBy":"m"}"#, #"{"clause":{"type":"all"}}"#,
                #"{"clause":{"type":"all"},"orderBy":[{"field":"n"},{"field":"m"}]}"#,
            ] {
                #expect(try await Self.refusal(client, query, key: key) == Self.invalid, "\(query)")
            }
            #expect(
                try await Self.refusal(client, Self.all, bucket: "others", key: key) == Self.invalid
            )
            #expect(
                try await Self.refusal(client, Self.all, bucket: "missing", key: key)
                    == Self.invalid)
        }
    }

    @Test(arguments: BackendKind.all)
    func `the same query spelled otherwise takes the key`(on kind: BackendKind) async throws {
        try await Self.withKey(on: kind) { client, key in
            for query in [
                #"{ "descending" : false, "orderBy":"\u006e", "clause":{"type":"\u0061ll"}}"#,
                #"{"orderBy":"n"}"#, #"{"orderBy":[{"field":"n"}]}"#,
            ] {
                let page = try await Self.ask(client, query, key: key)
                #expect(page.ids == (3...9).map { "o\($0)" }, "\(query)")
            }
        }
    }

    @Test(arguments: BackendKind.all)
    func `a key that was tampered with in any place is refused`(on kind: BackendKind) async throws {
        try await Self.withKey(on: kind) { client, key in
            let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
            var random = SplitMix64(seed: 11)
            var spelled = Array(key)
            for position in spelled.indices {
                let old = spelled[position]
                spelled[position] = random.pick(letters.filter { $0 != old })
                let refusal = try await Self.refusal(client, Self.all, key: String(spelled))
                #expect(refusal == Self.invalid, "place \(position) of \(key)")
                spelled[position] = old
            }
            for broken in [
                "", "A", "AAAA", String(key.dropLast()), key + "A", key + "=", key + "\n",
                " " + key,
                String(key.dropFirst()), key + key, "\u{1F600}", "null",
            ] {
                #expect(
                    try await Self.refusal(client, Self.all, key: broken) == Self.invalid,
                    "\(broken)"
                )
            }
        }
    }

    @Test(arguments: BackendKind.all)
    func `a key of another store is refused, and one of this store survives a restart`(
        on kind: BackendKind
    )
        async throws
    {
        try await Self.withKey(on: kind) { _, foreign in
            try await withTemporaryFolder { folder in
                let path = folder + "/store.sqlite"
                let key = try await withBackend(kind, path: path) { client in
                    try await Self.fill(client)
                    return try await Self.ask(client, Self.all, limit: 3).nextKey
                }
                try await withBackend(kind, path: path) { client in
                    let page = try await Self.ask(client, Self.all, key: key)
                    #expect(page.ids == (3...9).map { "o\($0)" })
                    #expect(
                        try await Self.refusal(client, Self.all, key: foreign) == Self.invalid)
                }
            }
        }
    }
}
