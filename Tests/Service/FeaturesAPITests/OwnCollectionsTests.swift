import HTTPTypes
import JSONText
import Objects
import ServiceDesk
import TestSupport
import Testing
import WebExchange
import Wire

@testable import GISSites

/// Whose buckets the list of collections has.
@Suite struct OwnCollectionsTests {
    /// The operations of a service as somebody uses them.
    private struct Owned: WebOperations {
        let operations: LineOperations
        /// What the login permits, as nodes tell each other.
        let grant: String

        var limits: Limits { operations.limits }

        func reply<Reply>(
            to call: TypedCall<Reply>, from caller: Caller
        ) async throws(RPCFailure) -> Reply {
            try await operations.reply(to: call, from: caller)
        }

        func caller(of request: WebRequest) throws(WebFailure) -> Caller {
            Caller(passedOn: Array(#"{"address":"a1"\#(grant)}"#.utf8))!
        }
    }

    @Test(arguments: [
        ("", ["shops"]),
        (#","principal":"alice","role":"read""#, ["shops", "users~alice~notes"]),
        (
            #","principal":"alice","role":"admin","groups":["drivers","absent"]"#,
            ["shops", "users~alice~notes", "groups~drivers~tours"]
        ),
        (
            #","principal":"bob","role":"write","groups":["owners","drivers"]"#,
            ["shops", "users~bob~notes", "groups~drivers~tours", "groups~owners~cars"]
        ),
        // A token that is bound to some buckets asks for none of the other scopes.
        (
            #","principal":"alice","role":"read","groups":["drivers"],"buckets":["shops"]"#,
            ["shops"]
        ),
        (
            #","principal":"alice","role":"read","groups":["drivers"],"buckets":["users/alice/notes"]"#,
            ["shops", "users~alice~notes"]
        ),
        (
            #","principal":"alice","role":"read","groups":["drivers"],"buckets":["groups/drivers","users/alice2"]"#,
            ["shops", "groups~drivers~tours"]
        ),
    ])
    func `It has the application's buckets, and those of the caller and its groups`(
        _ grant: String, _ expected: [String]
    ) async throws {
        let buckets = [
            "shops", "users/alice/notes", "users/bob/notes", "groups/drivers/tours",
            "groups/owners/cars", "things/t1/places",
        ]
        try await TestSite.with { _, service in
            for bucket in buckets {
                try await service.call(
                    "object.put",
                    #"{"bucket":"\#(bucket)","id":"o1","object":{"p":{"_type":"point","lat":1,"lon":2}}}"#
                )
            }
            let site = TestSite(
                Owned(operations: LineOperations(service: service), grant: grant))
            let collections = try await site.json("/ogc/collections")["collections"]
            #expect(
                collections?.array?.compactMap { $0["id"]?.string }
                    == expected.flatMap { [$0, $0 + "@p"] })
        }
    }

    @Test(arguments: ["p", "a.b", "a/b", "@p", "é", "p q", "%41", "~", "+&?#", "日本"])
    func `Each collection that is listed is there at its own address`(_ field: String) async throws
    {
        let place = #"{"_type":"point","lat":1,"lon":2}"#
        let object = #"{"_id":"o1"," first":\#(place),"\#(field)":\#(place)}"#
        try await TestSite.with("shops", [object]) { site, _ in
            let collections = try await site.json("/ogc/collections")["collections"]?.array ?? []
            #expect(collections.count == 3)
            for collection in collections {
                let address = try #require(collection.link("self"))
                let path = String(address.trimmingPrefix("https://geo.example.com"))
                let alone = try await site.json(path)
                #expect(alone == collection, "\(path)")
                let items = try await site.json(path + "/items")
                #expect(items["numberMatched"]?.int == 1, "\(path)")
                #expect(items.link("collection") == address)
            }
        }
    }
}
