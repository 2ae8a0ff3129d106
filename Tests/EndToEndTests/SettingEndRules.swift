import GeoBucketClient
import JSONText
import Objects
import TestSupport
import Testing
import WebServer

/// Every limit at the least and at the greatest value that may be set: requests that use it are
/// answered or refused, and what they store is sound.
@Suite struct SettingEndRules {
    private static let near =
        #"{"type":"geodistance","field":"p","center":\#(point(0, 0)),"putDistanceInto":"d"}"#
    private static let line = CorridorRules.line("[0,0],[179,1],[-1,1],[178,-1]")
    private static let polygon =
        #"{"type":"geopolygon","field":"p","polygon":{"type":"Polygon","coordinates":[[[0,0],[9,0],[9,9],[0,0]]]}}"#
    private static let moreClauses =
        #"{"type":"or","clauses":[{"type":"in","field":"n","values":[1,2]},{"type":"not","clause":{"type":"eq","field":"n","value":3}}]}"#

    /// What is asked, in this order.
    private static let requests: [(method: String, params: String)] = [
        ("object.put", #"{"bucket":"b1","id":"o1","requestKey":"k1","object":\#(object(1))}"#),
        ("object.put", #"{"bucket":"b1","id":"o1","requestKey":"k2","object":\#(object(2))}"#),
        ("object.create", #"{"bucket":"b1","dataType":"kiosk","object":\#(object(3))}"#),
        (
            "object.putMany",
            #"{"bucket":"b1","objects":[\#((4..<40).map(object).joined(separator: ","))]}"#
        ),
        ("object.patch", #"{"bucket":"b1","id":"o1","object":{"q":[\#(point(1, 1))]}}"#),
        ("object.get", #"{"bucket":"b1","id":"o1"}"#),
        (
            "bucket.query",
            queryParams(near, #""orderBy":[{"field":"_calculated.d"},{"field":"n"}]"#, "", "b1")
        ),
        ("bucket.query", queryParams(near, #""orderBy":"_calculated.d""#, "", "b1")),
        (
            "bucket.query",
            queryParams(
                CorridorRules.clause(line, #","putDistanceInto":"d","putAlongInto":"a""#),
                #""orderBy":"_calculated.a""#, #""bestEffortLimit":1"#, "b1")
        ),
        ("bucket.query", queryParams(polygon, #""orderBy":"n""#, #""fields":["n"]"#, "b1")),
        ("bucket.query", queryParams(moreClauses, #""orderBy":"n","descending":true"#, "", "b1")),
        (
            "bucket.query",
            queryParams(
                #"{"type":"all"}"#,
                #""aggregations":[{"type":"GROUP","field":"n","putAggregationInto":"g"},{"type":"AVG","field":"n","putAggregationInto":"m"}]"#,
                "", "b1")
        ),
        ("bucket.count", #"{"bucket":"b1","bucketQuery":{"clause":\#(moreClauses)}}"#),
        ("bucket.explain", #"{"bucket":"b1","bucketQuery":{"clause":\#(near)},"analyze":true}"#),
        ("bucket.clusters", #"{"bucket":"b1","zoom":3}"#),
        ("bucket.fields", #"{"bucket":"b1"}"#), ("bucket.list", "{}"),
        ("bucket.export", #"{"bucket":"b1"}"#),
        (
            "watch.start",
            #"{"bucket":"b1","bucketQuery":{"clause":\#(near)},"bestEffortLimit":3,"fields":["n"]}"#
        ),
        ("object.delete", #"{"bucket":"b1","id":"o1"}"#),
        ("auth.login", #"{"token":"\#(String(repeating: "t", count: 80))"}"#),
        ("server.info", "{}"), ("server.stats", "{}"), ("server.ping", "{}"),
    ]

    private static func object(_ number: Int) -> String {
        #"{"n":\#(number),"p":\#(point(0, Double(number))),"q":[\#(point(1, 1)),\#(point(2, 2))]}"#
    }

    /// The reasons for which a limit may refuse a request.
    private static let refusals: Set<String> = [
        "INVALID_INPUT_DATA", "QUERY_TIMEOUT", "TOO_MANY_REQUESTS", "LINE_TOO_LONG",
        "OBJECT_TOO_LARGE", "QUERY_NOT_SUPPORTED", "TEMPORARY_UNAVAILABLE_ERROR",
        "OBJECT_NOT_FOUND", "WRONG_TOKEN", "REPLY_TOO_LARGE",
    ]

    /// The settings in four parts, which run side by side.
    private static func settings(_ part: Int) -> [LimitSetting] {
        LimitSetting.all.enumerated().filter { $0.offset % 4 == part }.map(\.element)
    }

    @Test(arguments: 0..<4)
    func `A service with a limit at either end answers or refuses, and stays sound`(
        part: Int
    ) async throws {
        for setting in Self.settings(part) {
            for value in [setting.range.lowerBound, setting.range.upperBound] {
                var limits = Limits()
                limits[keyPath: setting.path] = value
                let name = "\(setting.name) = \(value)"
                let web = WebPort.Settings(host: "127.0.0.1", port: 0, hosts: .any)
                try await TestService.with(limits: limits, web: web) { service in
                    var answered = 0
                    for (method, params) in Self.requests {
                        do {
                            let outcome = try await service.outcome(method, params)
                            answered += outcome == "accepted" ? 1 : 0
                            let reason = String(outcome.prefix { $0 != " " })
                            #expect(
                                outcome == "accepted" || Self.refusals.contains(reason),
                                "\(name), \(method): \(outcome)")
                        } catch is ClientFailure {
                            // Some limits close the connection.
                            break
                        }
                    }
                    if value == setting.range.upperBound {
                        #expect(answered >= Self.requests.count - 1, "\(name): \(answered)")
                    }
                    #expect(try service.backend.check(until: nil).problems == [], "\(name)")
                }
            }
        }
    }
}
