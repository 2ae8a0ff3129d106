import JSONText
import Objects
import TestSupport
import Testing

@testable import LiveQueries

/// What may be asked for in `watch.start`, and where it is said what may not.
@Suite struct WatchRequestTests {
    private static let couriers = BucketName(trusted: "couriers")

    private static func request(_ params: String) throws -> WatchRequest {
        try WatchClient.request(couriers, params, Limits())
    }

    private static let circle =
        #""bucketQuery":{"clause":\#(Meridian.circle(Meridian.origin, 100))}"#

    private static func pairs(_ members: String) -> String {
        #"{\#(circle),"pairs":{"bucket":"riders","field":"at","clause":{"type":"all"}\#(members)}}"#
    }

    @Test(arguments: [
        // Of rankings.
        (#"{"intervalMilliseconds":100}"#, "intervalMilliseconds"),
        (#"{"bestEffortLimit":1,"intervalMilliseconds":-1}"#, "intervalMilliseconds"),
        (#"{"bestEffortLimit":1,"intervalMilliseconds":60001}"#, "intervalMilliseconds"),
        (#"{"bestEffortLimit":1,"intervalMilliseconds":1.5}"#, "intervalMilliseconds"),
        (#"{"bestEffortLimit":1,\#(circle),"leaveRadius":200}"#, "leaveRadius"),
        // Of hysteresis.
        (#"{"leaveRadius":200}"#, "leaveRadius"),
        (#"{\#(circle),"leaveRadius":99.9}"#, "leaveRadius"),
        (#"{\#(circle),"leaveRadius":0}"#, "leaveRadius"),
        (#"{\#(circle),"leaveRadius":"200"}"#, "leaveRadius"),
        (#"{\#(circle),"leaveRadius":20015116}"#, "leaveRadius"),
        (
            #"{"bucketQuery":{"clause":{"type":"or","clauses":[\#(Meridian.circle(Meridian.origin, 9)),\#(Meridian.circle(Meridian.origin, 8))]}},"leaveRadius":200}"#,
            "leaveRadius"
        ),
        (
            #"{"bucketQuery":{"clause":{"type":"geodistance","field":"at","center":\#(Meridian.origin)}},"leaveRadius":200}"#,
            "leaveRadius"
        ),
        // Of pairs.
        (#"{"pairs":{"bucket":"riders","field":"at","radius":9}}"#, "pairs"),
        (#"{\#(circle),"pairs":[]}"#, "pairs"),
        (#"{\#(circle),"pairs":{"field":"at","radius":9}}"#, "pairs.bucket"),
        (#"{\#(circle),"pairs":{"bucket":"r","field":"at","radius":9}}"#, "pairs.bucket"),
        (#"{\#(circle),"pairs":{"bucket":"riders","radius":9}}"#, "pairs.field"),
        (pairs(""), "pairs.radius"),
        (pairs(#","radius":0"#), "pairs.radius"),
        (pairs(#","radius":100,"leaveRadius":99"#), "pairs.leaveRadius"),
        (pairs(#","radius":100,"limit":7"#), "pairs.limit"),
        (
            #"{\#(circle),"pairs":{"bucket":"riders","field":"at","radius":9,"clause":{"type":"eq"}}}"#,
            "pairs.clause.field"
        ),
        (
            #"{\#(circle),"leaveRadius":200,"pairs":{"bucket":"riders","field":"at","radius":9}}"#,
            "leaveRadius"
        ),
        (
            #"{\#(circle),"bestEffortLimit":9,"pairs":{"bucket":"riders","field":"at","radius":9}}"#,
            "pairs"
        ),
        (
            #"{"bucketQuery":{"clause":\#(Meridian.circle(Meridian.origin, 100)),"orderBy":"n"},"pairs":{"bucket":"riders","field":"at","radius":9}}"#,
            "pairs"
        ),
        // Of centres that move.
        (
            #"{"bucketQuery":{"clause":\#(Meridian.circle(#"{"_type":"object","bucket":"drivers","_id":"d1"}"#, 9))}}"#,
            "bucketQuery.clause.center.field"
        ),
        (
            #"{"bucketQuery":{"clause":\#(Meridian.circle(#"{"_type":"object","bucket":"drivers","_id":"?","field":"at"}"#, 9))}}"#,
            "bucketQuery.clause.center._id"
        ),
        // Of every watch.
        (#"{"resume":7}"#, "resume"),
        (#"{"fields":"name"}"#, "fields"),
        (#"{"bucketQuery":{"clause":null}}"#, "bucketQuery.clause"),
    ])
    func `what cannot be watched is refused with the path of the member`(
        params: String, path: String
    ) {
        let failure = #expect(throws: ServiceFailure.self, "\(params)") {
            try Self.request(params)
        }
        #expect(failure?.path == path, "\(params): \(failure?.message ?? "")")
        #expect(failure?.message.isEmpty == false)
    }

    @Test(arguments: [
        #"{"bestEffortLimit":200,"intervalMilliseconds":60000}"#,
        #"{"bestEffortLimit":1,"intervalMilliseconds":0}"#,
        #"{\#(circle),"leaveRadius":100}"#,
        #"{\#(circle),"leaveRadius":20015115}"#,
        pairs(#","radius":20015115"#),
        pairs(#","radius":100,"leaveRadius":100"#),
        #"{\#(circle),"pairs":{"bucket":"riders","field":"at","radius":0.5}}"#,
    ])
    func `what is just within the bounds can be watched`(params: String) throws {
        _ = try Self.request(params)
    }

    @Test func `a watch reads its bucket, the other side, and the buckets of its centres`() throws {
        let center = Meridian.follower(of: "d1", in: "users/me/drivers")
        let query = #""bucketQuery":{"clause":\#(Meridian.circle(center, 100))}"#
        let pairs = #""pairs":{"bucket":"riders","field":"at","radius":9}"#
        #expect(try Self.request("{}").buckets.map(\.text) == ["couriers"])
        #expect(
            try Self.request("{\(query)}").buckets.map(\.text) == ["couriers", "users/me/drivers"])
        #expect(
            try Self.request("{\(query),\(pairs)}").buckets.map(\.text)
                == ["couriers", "riders", "users/me/drivers"])
        let own = pairs.replacing("riders", with: "couriers")
        #expect(try Self.request("{\(Self.circle),\(own)}").buckets.map(\.text) == ["couriers"])
    }

    /// A token is bound to what is watched: what is shown of it may change.
    @Test func `what alters the query alters the scope of its token, and fields do not`() throws {
        func scope(_ params: String) throws -> [UInt8] {
            WatchTopic(try Self.request(params), of: 1).scope
        }
        let moving = Meridian.circle(Meridian.follower(of: "d1", in: "drivers"), 100)
        let others = [
            "{}", #"{"bucketQuery":{"orderBy":"n"}}"#,
            #"{"bucketQuery":{"orderBy":"n","descending":true}}"#, #"{"bestEffortLimit":5}"#,
            #"{"bestEffortLimit":6}"#, "{\(Self.circle)}", #"{\#(Self.circle),"leaveRadius":200}"#,
            #"{\#(Self.circle),"leaveRadius":201}"#, #"{"bucketQuery":{"clause":\#(moving)}}"#,
            #"{"bucketQuery":{"clause":\#(moving.replacing("d1", with: "d2"))}}"#,
            #"{"bucketQuery":{"clause":\#(moving.replacing("drivers", with: "couriers"))}}"#,
            Self.pairs(#","radius":9"#), Self.pairs(#","radius":9,"leaveRadius":10"#),
            Self.pairs(#","radius":9"#).replacing(#""at""#, with: #""on""#),
            Self.pairs(#","radius":9"#).replacing("riders", with: "couriers"),
        ]
        let scopes = try others.map(scope)
        #expect(Set(scopes).count == others.count)
        for (params, scope) in zip(others, scopes) {
            let more = params.count > 2 ? "," : ""
            let shown = #"{"fields":["a"]\#(more)\#(params.dropFirst())"#
            #expect(try WatchTopic(Self.request(shown), of: 2).scope == scope, "\(params)")
        }
    }
}
