import GeoBucketClient
import JSONText
import Objects
import Operations
import TestSupport
import Testing

/// What a login permits to watch, and what becomes of a watch when the login ends.
@Suite(.timeLimit(.minutes(5))) struct WatchLoginRules {
    private static let all = #"{"bucket":"shops"}"#

    private static func client(
        _ guarded: LoginRules.Guarded, as name: String,
        _ body: (WatchClient) async throws -> Void
    ) async throws {
        try await WatchClient.with(port: guarded.service.port) { client in
            try logIn(client, guarded, name)
            try await body(client)
        }
    }

    private static func logIn(
        _ client: WatchClient, _ guarded: LoginRules.Guarded, _ name: String
    ) throws {
        _ = try client.call("auth.login", #"{"token":"\#(guarded.tokens[name]!.text)"}"#)
    }

    /// The error that ends a watch.
    private static func end(_ client: WatchClient, _ watch: String) throws -> String? {
        try client.notification("watch.end", of: watch)["error"]?["data"]?["errorCode"]?.string
    }

    @Test func `Without a login nothing is watched, and no watch is known`() async throws {
        try await LoginRules.with { guarded in
            try await WatchClient.with(port: guarded.service.port) { client in
                for (method, params) in [
                    ("watch.start", Self.all), ("watch.start", "{}"),
                    ("watch.move", #"{"watch":"w1"}"#), ("watch.sync", #"{"watch":"w1"}"#),
                    ("watch.stop", "{}"),
                ] {
                    let outcome = try client.outcome(method, params)
                    #expect(outcome == "UNAUTHORIZED", "\(method)")
                }
            }
        }
    }

    @Test func `A watch needs the right to read each bucket that it reads`() async throws {
        let circle = #""clause":{"type":"geodistance","field":"l","radius":5,"center":"#
        let own = #"{"_type":"point","lat":0,"lon":0}"#
        @Sendable func following(_ bucket: String) -> String {
            #"{"_type":"object","bucket":"\#(bucket)","_id":"c1","field":"l"}"#
        }
        @Sendable func pairs(_ bucket: String) -> String {
            #","pairs":{"bucket":"\#(bucket)","field":"l","clause":{"type":"all"},"radius":5}"#
        }
        try await LoginRules.with { guarded in
            try await Self.client(guarded, as: "narrow") { client in
                for (bucket, center, more, may) in [
                    ("shops", own, "", true), ("stores", own, "", false),
                    ("shops", following("users/nina/cars"), "", true),
                    ("shops", following("users/alice/cars"), "", false),
                    ("shops", following("stores"), "", false),
                    ("shops", own, pairs("users/nina/cars"), true),
                    ("shops", own, pairs("stores"), false),
                ] {
                    let params =
                        #"{"bucket":"\#(bucket)","bucketQuery":{\#(circle)\#(center)}}\#(more)}"#
                    let outcome = try client.outcome("watch.start", params)
                    #expect(
                        may ? outcome == "accepted" : outcome.hasPrefix("OPERATION_NOT_ALLOWED"),
                        "\(params): \(outcome)")
                }
                let move = #"{"watch":"w1","bucketQuery":{\#(circle)\#(following("stores"))}}}"#
                let moved = try client.outcome("watch.move", move)
                #expect(moved == "OPERATION_NOT_ALLOWED")
            }
        }
    }

    @Test func `A watch ends when its login is revoked, and the connection is unauthorized`()
        async throws
    {
        try await LoginRules.with { guarded in
            try await Self.client(guarded, as: "reader") { reader in
                try await Self.client(guarded, as: "other") { other in
                    let watch = try reader.start(params: Self.all)
                    let kept = try other.start(params: Self.all)
                    guarded.access.replace(
                        LoginRules.file(
                            guarded.tokens, LoginRules.grants.filter { $0.key != "reader" }))
                    #expect(try Self.end(reader, watch) == "UNAUTHORIZED")
                    #expect(try reader.outcome("watch.start", Self.all) == "UNAUTHORIZED")
                    try other.sync(kept)
                }
            }
        }
    }

    @Test func `A watch ends when its bucket is no longer within reach; others go on`() async throws
    {
        try await LoginRules.with { guarded in
            try await Self.client(guarded, as: "narrow") { client in
                let shops = try client.start(params: Self.all)
                let notes = try client.start(params: #"{"bucket":"users/nina/notes"}"#)
                var grants = LoginRules.grants
                grants["narrow"]?.holdsFor = ["users/nina"]
                guarded.access.replace(LoginRules.file(guarded.tokens, grants))
                #expect(try Self.end(client, shops) == "OPERATION_NOT_ALLOWED")
                try client.sync(notes)
                #expect(
                    try client.outcome("watch.sync", #"{"watch":"\#(shops)"}"#)
                        == "INVALID_INPUT_DATA watch")
            }
        }
    }

    @Test func `Another login on the connection ends what it does not permit`() async throws {
        try await LoginRules.with { guarded in
            try await Self.client(guarded, as: "writer") { client in
                let trips = try client.start(params: #"{"bucket":"groups/drivers/trips"}"#)
                let shops = try client.start(params: Self.all)
                try Self.logIn(client, guarded, "reader")
                #expect(try Self.end(client, trips) == "OPERATION_NOT_ALLOWED")
                try client.sync(shops)
            }
        }
    }

    @Test func `A watch ends when its login expires`() async throws {
        try await LoginRules.with { guarded in
            try await Self.client(guarded, as: "reader") { client in
                let watch = try client.start(params: Self.all)
                var grants = LoginRules.grants
                grants["reader"]?.expires = 1
                guarded.access.replace(LoginRules.file(guarded.tokens, grants))
                #expect(try Self.end(client, watch) == "UNAUTHORIZED")
            }
        }
    }
}
