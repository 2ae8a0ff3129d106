import GeoBucketClient
import JSONText
import Objects
import ServiceDesk
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
                let ofCenter = "bucketQuery.clause.center.bucket"
                for (bucket, center, more, path) in [
                    ("shops", own, "", nil), ("stores", own, "", "bucket"),
                    ("shops", following("users/nina/cars"), "", nil),
                    ("shops", following("users/alice/cars"), "", ofCenter),
                    ("shops", following("stores"), "", ofCenter),
                    ("shops", own, pairs("users/nina/cars"), nil),
                    ("shops", own, pairs("stores"), "pairs.bucket"),
                ] as [(String, String, String, String?)] {
                    let params =
                        #"{"bucket":"\#(bucket)","bucketQuery":{\#(circle)\#(center)}}\#(more)}"#
                    let outcome = try client.outcome("watch.start", params)
                    #expect(outcome == Self.outcome(refusedAt: path), "\(params)")
                }
                let move = #"{"watch":"w1","bucketQuery":{\#(circle)\#(following("stores"))}}}"#
                let moved = try client.outcome("watch.move", move)
                #expect(moved == Self.outcome(refusedAt: ofCenter))
            }
        }
    }

    private static func outcome(refusedAt path: String?) -> String {
        path.map { "OPERATION_NOT_ALLOWED \($0)" } ?? "accepted"
    }

    @Test func `A centre in a bucket out of reach is named by its place in the query`() async throws
    {
        func circle(_ bucket: String) -> String {
            let center = #"{"_type":"object","bucket":"\#(bucket)","_id":"c1","field":"l"}"#
            return #"{"type":"geodistance","field":"l","radius":5,"center":\#(center)}"#
        }
        func both(_ clauses: String...) -> String {
            #"{"type":"and","clauses":[\#(clauses.joined(separator: ","))]}"#
        }
        func not(_ clause: String) -> String { #"{"type":"not","clause":\#(clause)}"# }
        let (own, other) = (circle("shops"), circle("stores"))
        let clauses = [
            (both(own, not(other)), "clauses[1].clause."),
            (both(both(own, own), #"{"type":"all"}"#, both(own, other)), "clauses[2].clauses[1]."),
            (not(both(other, circle("users/bob/cars"))), "clause.clauses[0]."),
        ]
        try await LoginRules.with { guarded in
            try await Self.client(guarded, as: "narrow") { client in
                for (clause, path) in clauses {
                    let params = #"{"bucket":"shops","bucketQuery":{"clause":\#(clause)}}"#
                    let outcome = try client.outcome("watch.start", params)
                    #expect(
                        outcome
                            == Self.outcome(refusedAt: "bucketQuery.clause.\(path)center.bucket"))
                }
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
                grants["narrow"] = try Grant(
                    principal: "nina", role: .write, groups: ["drivers"],
                    holdsFor: ["users/nina"])
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
