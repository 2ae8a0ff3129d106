import Foundation
import SyntheticData
import TestSupport
import Testing
import Wire

/// Nobody waits for a stranger: the processor time of each turn of the event loops has a bound, whatever
/// is read, by the service's own measure.
@Suite struct TurnRules {
    /// Objects near every limit of one object, and as many as a bucket has of them.
    private static func buckets() -> [(name: String, objects: [String])] {
        var random = SplitMix64(seed: 20_261_127)
        func place() -> String {
            point(
                Double.random(in: -60...60, using: &random),
                Double.random(in: -170...170, using: &random))
        }
        func digits(_ count: Int) -> String {
            (0..<count).map { _ in String(Int.random(in: 0...9, using: &random)) }
                .joined(separator: ",")
        }
        let text = String(repeating: "lorem ipsum dolor ", count: 3_300)
        return [
            ("texts", (0..<128).map { #"{"n":\#($0),"t":"\#($0)\#(text)","at":\#(place())}"# }),
            (
                "arrays",
                (0..<200).map { #"{"n":\#($0),"a":[\#(digits(31_000))],"at":\#(place())}"# }
            ),
            (
                "words",
                (0..<200).map { number in
                    let members = (0..<450).map { #""field\#($0)":"lorem ipsum dolor sit amet""# }
                    return #"{"n":\#(number),\#(members.joined(separator: ",")),"at":\#(place())}"#
                }
            ),
            (
                "points",
                (0..<1_990).map { number in
                    let places = (0..<100).map { _ in place() }
                    return #"{"n":\#(number),"at":[\#(places.joined(separator: ","))]}"#
                }
            ),
            (
                "names",
                (0..<16).map { number in
                    let members = (0..<3_400).map { #""name\#(number)x\#($0)":\#($0)"# }
                    return #"{\#(members.joined(separator: ","))}"#
                }
            ),
            (
                "many",
                (0..<20_000).map { #"{"n":\#($0),"c":\#($0 % 7),"s":"s\#($0)","at":\#(place())}"# }
            ),
        ]
    }

    /// Requests whose cost lies in bytes, points or names rather than in a number of objects.
    private static func requests() -> [(method: String, params: String)] {
        func query(_ bucket: String, _ clause: String, _ more: String = "") -> (String, String) {
            (
                "bucket.query",
                #"{"bucket":"\#(bucket)","bucketQuery":{"clause":\#(clause)\#(more)}"#
            )
        }
        func contains(_ count: Int, _ type: String) -> String {
            let clauses = (0..<count).map { #"{"type":"contains","field":"t","value":"zz\#($0)"}"# }
            return #"{"type":"\#(type)","clauses":[\#(clauses.joined(separator: ","))]}"#
        }
        func circles(_ count: Int, _ type: String) -> String {
            let clauses = (0..<count).map {
                #"{"type":"geodistance","field":"at","center":\#(point(Double($0), 3)),"radius":9e6,"model":"wgs84"}"#
            }
            return #"{"type":"\#(type)","clauses":[\#(clauses.joined(separator: ","))]}"#
        }
        let all = #"{"type":"all"}"#
        var requests: [(String, String)] = []
        for _ in 0..<2 {
            for count in [1, 70, 900] {
                requests.append(query("texts", contains(count, "or"), "}"))
                requests.append(query("texts", contains(count, "and"), "}"))
            }
            requests.append(query("texts", all, #","orderBy":"t"},"fields":["n"]"#))
            for type in ["and", "or"] {
                requests.append(query("points", circles(20, type), "}"))
                requests.append(query("many", circles(20, type), "}"))
            }
        }
        for bucket in ["texts", "arrays", "words", "many", "points"] {
            requests.append(query(bucket, all, #"},"fields":["n"]"#))
            requests.append(query(bucket, all, "}"))
            requests.append(query(bucket, #"{"type":"eq","field":"none","value":1}"#, "}"))
            requests.append(("bucket.fields", #"{"bucket":"\#(bucket)""#))
            requests.append(
                ("bucket.clusters", #"{"bucket":"\#(bucket)","zoom":2,"fields":["n"]"#))
            requests.append(("bucket.clusters", #"{"bucket":"\#(bucket)","zoom":2,"fields":[]"#))
            requests.append(
                ("bucket.count", #"{"bucket":"\#(bucket)","bucketQuery":{"clause":\#(all)}"#))
        }
        requests.append(("bucket.fields", #"{"bucket":"names""#))
        for field in ["t", "n"] {
            requests.append(
                query(
                    "texts", all,
                    #","aggregations":[{"type":"GROUP","field":"\#(field)","putAggregationInto":"g"}]}"#
                ))
        }
        for bucket in ["texts", "points", "many"] {
            for (type, count) in [("or", 300), ("and", 20)] {
                let clause = bucket == "texts" ? contains(count, type) : circles(20, type)
                requests.append(
                    (
                        "bucket.explain",
                        #"{"bucket":"\#(bucket)","analyze":true,"bucketQuery":{"clause":\#(clause)}"#
                    ))
            }
            requests.append(("bucket.export", #"{"bucket":"\#(bucket)""#))
        }
        requests += [
            ("bucket.list", "{"), ("object.get", #"{"bucket":"arrays","id":"o1""#),
            ("server.info", "{"), ("server.ping", "{"), ("server.stats", "{"), ("store.check", "{"),
            ("server.activity", "{"), ("server.cancel", #"{"id":1"#), ("store.compact", "{"),
            ("store.backup", "{"), ("server.route", #"{"bucket":"many""#),
            ("auth.login", #"{"token":"\#(String(repeating: "t", count: 60_000))""#),
        ]
        return requests.map { ($0.0, $0.1 + "}") }
    }

    /// Writes of objects near the limits, and of many of them.
    private static func writes() -> [(method: String, params: String)] {
        let bodies = [
            #"{"t":"\#(String(repeating: "lorem ipsum ", count: 5_400))"}"#,
            #"{"a":[\#(Array(repeating: "7", count: 31_000).joined(separator: ","))]}"#,
            #"{"at":[\#(Array(repeating: point(3, 4), count: 100).joined(separator: ","))]}"#,
            "{\((0..<3_400).map { #""name\#($0)":\#($0)"# }.joined(separator: ","))}",
            String(repeating: #"{"a":"#, count: 60) + "1" + String(repeating: "}", count: 60),
        ]
        var writes: [(String, String)] = []
        for body in bodies {
            writes.append(("object.create", #"{"bucket":"written","object":\#(body)}"#))
            writes.append(("object.put", #"{"bucket":"written","id":"o","object":\#(body)}"#))
            writes.append(("object.patch", #"{"bucket":"written","id":"o","object":\#(body)}"#))
            let many = Array(repeating: body, count: 900_000 / body.utf8.count)
            writes.append(
                (
                    "object.putMany",
                    #"{"bucket":"written","objects":[\#(many.joined(separator: ","))]}"#
                ))
        }
        writes.append(("object.delete", #"{"bucket":"written","id":"o"}"#))
        for type in ["or", "and"] {
            let clauses = (0..<900).map { #"{"type":"contains","field":"t","value":"zz\#($0)"}"# }
            writes.append(
                (
                    "bucket.deleteWhere",
                    #"{"bucket":"texts","bucketQuery":{"clause":{"type":"\#(type)","clauses":[\#(clauses.joined(separator: ","))]}}}"#
                ))
        }
        writes.append(("bucket.delete", #"{"bucket":"written"}"#))
        return writes
    }

    /// Requests of one connection, whose watches are named `w1` and so on.
    private static func watches() -> [(method: String, params: String)] {
        let clauses = (0..<300).map { #"{"type":"contains","field":"t","value":"zz\#($0)"}"# }
        let costly = #"{"type":"or","clauses":[\#(clauses.joined(separator: ","))]}"#
        let near =
            #"{"type":"geodistance","field":"at","center":\#(point(3, 3)),"radius":9e6,"model":"wgs84"}"#
        return ["many", "texts", "points"].enumerated().flatMap { number, bucket in
            let watch = #""watch":"w\#(number + 1)""#
            return [
                (
                    "watch.start",
                    #"{"bucket":"\#(bucket)","bucketQuery":{"clause":\#(near)},"bestEffortLimit":50,"fields":["n"]}"#
                ),
                ("watch.move", #"{\#(watch),"bucketQuery":{"clause":\#(costly)}}"#),
                ("watch.move", #"{\#(watch),"bucketQuery":{"clause":{"type":"all"}}}"#),
                ("watch.sync", "{\(watch)}"), ("watch.stop", "{\(watch)}"),
            ]
        }
    }

    @Test("no turn of an event loop takes more than 5 ms of processor time, whatever is read")
    func loops() async throws {
        try await withTemporaryFolder { folder in
            try await Program.serve(
                store: folder + "/store.sqlite", folder: folder,
                flags: ["--http", "127.0.0.1:0", "--columns-per-minute", "1000"]
            ) { process, port in
                let http = try GatewayRules.port(named: "http", in: process.standardOutput)
                func call(_ method: String, _ params: String) throws -> String {
                    try RawConnection.with(port: port) { raw in
                        try raw.send(
                            #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
                                + "\n")
                        return try raw.line() ?? ""
                    }
                }
                for (name, objects) in Self.buckets() {
                    for part in objects.parts(ofAtMost: 900_000) {
                        let answer = try call(
                            "object.putMany",
                            #"{"bucket":"\#(name)","objects":[\#(part.joined(separator: ","))]}"#)
                        try #require(answer.contains("\"result\""), "\(answer.prefix(300))")
                    }
                }
                var asked: Set<String> = []
                func check(
                    _ requests: [(method: String, params: String)], within bound: String,
                    _ call: (String, String) throws -> String
                ) throws {
                    var long = try Self.longTurns(http, bound)
                    for (method, params) in requests {
                        asked.insert(method)
                        let answer = try call(method, params)
                        let now = try Self.longTurns(http, bound)
                        #expect(
                            now == long,
                            "\(method) \(params.prefix(120)): \(answer.prefix(120))")
                        long = now
                    }
                }
                try check(Self.requests(), within: "0.005", call)
                try RawConnection.with(port: port) { raw in
                    try check(Self.watches(), within: "0.005") { method, params in
                        try raw.send(
                            #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
                                + "\n")
                        while let line = try raw.line() {
                            if line.contains("\"id\":1") { return line }
                        }
                        return ""
                    }
                }
                // The modules that read puts and answer them are not optimized in tests.
                try check(Self.writes(), within: "0.02", call)
                #expect(asked == Set(MethodName.allCases.map { "\($0.text)" }))
            }
        }
    }

    /// The number of turns of the event loops that took longer than a bound of the histogram.
    private static func longTurns(_ http: Int, _ bound: String) throws -> Int {
        let text = try HTTPAnswer(port: http, path: "/metrics").body
        func value(_ series: String) throws -> Int {
            let name = "geobucket_turn_processor_seconds_\(series) "
            let line = try #require(
                text.split(separator: "\n").first { $0.hasPrefix(name) }, "\(series)")
            return Int(Double(line.split(separator: " ")[1])!)
        }
        return try value(#"count{thread="loop"}"#) - value(#"bucket{thread="loop",le="\#(bound)"}"#)
    }
}

extension [String] {
    /// The texts in their order, in parts of at most so many bytes.
    fileprivate func parts(ofAtMost bytes: Int) -> [ArraySlice<String>] {
        var parts: [ArraySlice<String>] = []
        var (start, size) = (0, 0)
        for position in indices {
            if size + self[position].utf8.count + 1 > bytes, position > start {
                parts.append(self[start..<position])
                (start, size) = (position, 0)
            }
            size += self[position].utf8.count + 1
        }
        parts.append(self[start...])
        return parts
    }
}
