import Foundation
import GeoBucketClient
import TestSupport
import Testing

/// What the app did not set goes back as it came, byte for byte.
@Suite struct SpellingTests {
    private struct Shop: Codable, Sendable {
        var name: String
        var price: Double
        var seats: Int?
        var opened: Date
    }

    private static let members = [
        #""name":"\u0041 \/ \u00e9""#, #""price":12.10"#, #""factor":1e3"#,
        #""big":123456789012345678901234567890"#, #""deep":{"x":[1.50,"\u0041"],"y":-0.0}"#,
        #""\u006bey":1E2"#, #""seats":4"#, #""opened":1.5e3"#, #""empty":{}"#,
    ]

    /// The app's own fields of the object in the store, as text.
    private static func text(_ bucket: Bucket) async throws -> String {
        let params = #"{"bucket":"\#(bucket.name)","id":"one"}"#
        let answer = try await bucket.client.callText("object.get", Array(params.utf8))
        let text = String(decoding: answer, as: UTF8.self)
        return String(text[try #require(text.range(of: #""name":"#)).lowerBound...].dropLast())
    }

    /// Runs `body` with a bucket that has the object.
    private static func with(_ body: @escaping @Sendable (Bucket) async throws -> Void) async throws
    {
        try await withBucket { bucket in
            let object = members.joined(separator: ",")
            let params = #"{"bucket":"\#(bucket.name)","id":"one","object":{\#(object)}}"#
            _ = try await bucket.client.callText("object.put", Array(params.utf8))
            #expect(try await text(bucket) == object)
            try await body(bucket)
        }
    }

    private static func changed(_ changes: [Int: String?]) -> String {
        members.enumerated().compactMap { changes[$0] ?? $1 }.joined(separator: ",")
    }

    @Test func `saveAllFields sends what was not set as it came`() async throws {
        try await Self.with { bucket in
            let object = try await bucket.object(withID: "one")
            try await object.saveAllFields()
            #expect(try await Self.text(bucket) == Self.changed([:]))
            object.setObject(7, forKey: "seats")
            object.remove(forKey: "empty")
            try await object.saveAllFields()
            #expect(try await Self.text(bucket) == Self.changed([6: #""seats":7"#, 8: nil]))
            try await object.saveAllFields(forced: false)
            #expect(try await Self.text(bucket) == Self.changed([6: #""seats":7"#, 8: nil]))
        }
    }

    @Test func `So does save, where it replaces a dictionary`() async throws {
        try await Self.with { bucket in
            let object = bucket.createObject(withID: "one")
            object.setObject(["x": 1], forKey: "empty")
            try await object.save()
            #expect(try await Self.text(bucket) == Self.changed([8: #""empty":{"x":1}"#]))
        }
    }

    @Test func `So does a page of a query`() async throws {
        try await Self.with { bucket in
            for try await object in bucket.objects() {
                object.setObject(7, forKey: "seats")
                try await object.saveAllFields()
            }
            #expect(try await Self.text(bucket) == Self.changed([6: #""seats":7"#]))
        }
    }

    @Test func `A stored model sends what was not changed as it came`() async throws {
        try await Self.with { bucket in
            var shop = try await bucket.object(of: Shop.self, withID: "one")
            #expect(shop.model.name == "A / é" && shop.model.price == 12.1)
            try await bucket.save(&shop)
            #expect(try await Self.text(bucket) == Self.changed([:]))
            shop.model.price = 12.5
            shop.model.seats = nil
            try await bucket.save(&shop)
            #expect(try await Self.text(bucket) == Self.changed([1: #""price":12.5"#, 6: nil]))
            // Looks the same, and has another code point.
            shop.model.name = "A / e\u{301}"
            try await bucket.save(&shop)
            let name = "\"name\":\"A / e\u{301}\""
            #expect(
                Array(try await Self.text(bucket).utf8)
                    == Array(Self.changed([0: name, 1: #""price":12.5"#, 6: nil]).utf8))
            try await bucket.save(&shop, unknownFields: .dropped)
            #expect(
                Array(try await Self.text(bucket).utf8)
                    == Array((name + #","price":12.5,"# + Self.members[7]).utf8))
        }
    }

    @Test func `A stored model counts over what its object was set to or refreshed`() async throws {
        try await Self.with { bucket in
            var shop = try await bucket.object(of: Shop.self, withID: "one")
            shop.object.setObject(1.25, forKey: "price")
            shop.object.setObject(2.5, forKey: "factor")
            try await bucket.save(&shop)
            #expect(try await Self.text(bucket) == Self.changed([2: #""factor":2.5"#]))
            let other = try await bucket.object(withID: "one")
            other.setObject(9, forKey: "price")
            try await other.save()
            try await shop.object.refresh()
            try await bucket.save(&shop)
            #expect(try await Self.text(bucket) == Self.changed([2: #""factor":2.5"#]))
        }
    }

    @Test func `The limit counts the bytes as they are sent`() async throws {
        try await withBucket { bucket in
            // {"s":"…"} around escapes of six bytes, each one letter.
            let text = String(repeating: "\\u0041", count: (262_136 - 8) / 6)
            let params = #"{"bucket":"mydata","id":"one","object":{"s":"\#(text)"}}"#
            _ = try await bucket.client.callText("object.put", Array(params.utf8))
            let object = try await bucket.object(withID: "one")
            try await object.saveAllFields()
            object.setObject(1, forKey: "n")
            let failure = await #expect(throws: ClientFailure.self) {
                try await object.saveAllFields()
            }
            #expect("\(failure!)".contains("262136"))
        }
    }
}
