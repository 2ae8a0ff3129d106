import Foundation
import SyntheticData
import TestSupport
import Testing

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
        requests.append(("bucket.list", "{"))
        requests.append(("object.get", #"{"bucket":"arrays","id":"o1""#))
        return requests.map { ($0.0, $0.1 + "}") }
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
                // The modules that read puts and answer them are not optimized in tests.
                var long = try Self.longTurns(http)
                for (method, params) in Self.requests() {
                    let answer = try call(method, params)
                    let now = try Self.longTurns(http)
                    #expect(
                        now == long,
                        "\(method) \(params.prefix(120)): \(answer.prefix(120))")
                    long = now
                }
            }
        }
    }

    /// The number of turns of the event loops that took longer than they may.
    private static func longTurns(_ http: Int) throws -> Int {
        let text = try HTTPAnswer(port: http, path: "/metrics").body
        func value(_ series: String) throws -> Int {
            let name = "geobucket_turn_processor_seconds_\(series) "
            let line = try #require(
                text.split(separator: "\n").first { $0.hasPrefix(name) }, "\(series)")
            return Int(Double(line.split(separator: " ")[1])!)
        }
        return try value(#"count{thread="loop"}"#) - value(#"bucket{thread="loop",le="0.005"}"#)
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
