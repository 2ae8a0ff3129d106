import TestSupport
import Testing

/// What is no clause, and the path that says where.
@Suite struct ClauseRefusalRules {
    private static let p = point(1, 2)
    private static let line = #"{"type":"LineString","coordinates":[[1,2],[3,4]]}"#

    /// Members of a clause, and the path behind `bucketQuery.clause` of the one at fault.
    static let faults: [(String, String)] = [
        (#""field":"f""#, ".type"), (#""type":null"#, ".type"), (#""type":5"#, ".type"),
        (#""type":"equals""#, ".type"), (#""type":"""#, ".type"), (#""type":"All""#, ".type"),
        (#""type":"all","field":"f""#, ".field"),
        // eq
        (#""type":"eq","value":1"#, ".field"), (#""type":"eq","field":5,"value":1"#, ".field"),
        (#""type":"eq","field":null,"value":1"#, ".field"),
        (#""type":"eq","field":"f""#, ".value"),
        (#""type":"eq","field":"f","value":[1]"#, ".value"),
        (#""type":"eq","field":"f","value":[]"#, ".value"),
        (#""type":"eq","field":"f","value":{}"#, ".value"),
        (#""type":"eq","field":"f","value":{"_type":"x"}"#, ".value"),
        (#""type":"eq","field":"f","value":{"_type":"point","lat":91,"lon":1}"#, ".value.lat"),
        (#""type":"eq","field":"f","value":{"_type":"point","lat":1}"#, ".value.lon"),
        (#""type":"eq","field":"f","value":1,"val":2"#, ".val"),
        (#""type":"eq","field":"_calculated.d","value":1"#, ".field"),
        // range
        (#""type":"range","lowerLimit":1"#, ".field"), (#""type":"range","field":"f""#, ""),
        (#""type":"range","field":"f","lowerIncluded":true"#, ""),
        (#""type":"range","field":"f","lowerLimit":true"#, ".lowerLimit"),
        (#""type":"range","field":"f","lowerLimit":null"#, ".lowerLimit"),
        (#""type":"range","field":"f","upperLimit":[1]"#, ".upperLimit"),
        (#""type":"range","field":"f","upperLimit":\#(p)"#, ".upperLimit"),
        (#""type":"range","field":"f","lowerLimit":1,"upperLimit":"a""#, ".upperLimit"),
        (#""type":"range","field":"f","lowerLimit":"1","upperLimit":2"#, ".upperLimit"),
        (#""type":"range","field":"f","lowerLimit":1,"lowerIncluded":1"#, ".lowerIncluded"),
        (#""type":"range","field":"f","upperLimit":1,"upperIncluded":null"#, ".upperIncluded"),
        (#""type":"range","field":"f","lowerLimit":1,"lower":1"#, ".lower"),
        // prefix
        (#""type":"prefix","prefix":"a""#, ".field"), (#""type":"prefix","field":"f""#, ".prefix"),
        (#""type":"prefix","field":"f","prefix":1"#, ".prefix"),
        (#""type":"prefix","field":"f","prefix":null"#, ".prefix"),
        (#""type":"prefix","field":"f","prefix":"a","value":"a""#, ".value"),
        // in
        (#""type":"in","values":[1]"#, ".field"), (#""type":"in","field":"f""#, ".values"),
        (#""type":"in","field":"f","values":1"#, ".values"),
        (#""type":"in","field":"f","values":null"#, ".values"),
        (#""type":"in","field":"f","values":[1,[2]]"#, ".values[1]"),
        (#""type":"in","field":"f","values":[{}]"#, ".values[0]"),
        (
            #""type":"in","field":"f","values":[1,{"_type":"point","lat":1,"lon":181}]"#,
            ".values[1].lon"
        ),
        (#""type":"in","field":"f","values":[1],"value":1"#, ".value"),
        // hasField
        (#""type":"hasField""#, ".field"), (#""type":"hasField","field":1"#, ".field"),
        (#""type":"hasField","field":"f","fieldType":"string""#, ".fieldType"),
        (#""type":"hasField","field":"f","fieldType":"FLOAT""#, ".fieldType"),
        (#""type":"hasField","field":"f","fieldType":null"#, ".fieldType"),
        (#""type":"hasField","field":"f","fieldType":1"#, ".fieldType"),
        (#""type":"hasField","field":"f","type2":1"#, ".type2"),
        // geobox
        (#""type":"geobox","box":{"ne":\#(p),"sw":\#(p)}"#, ".field"),
        (#""type":"geobox","field":"f""#, ".box"),
        (#""type":"geobox","field":"f","box":[]"#, ".box"),
        (#""type":"geobox","field":"f","box":{"sw":\#(p)}"#, ".box.ne"),
        (#""type":"geobox","field":"f","box":{"ne":\#(p)}"#, ".box.sw"),
        (#""type":"geobox","field":"f","box":{"ne":\#(p),"sw":{"lat":1,"lon":1}}"#, ".box.sw"),
        (#""type":"geobox","field":"f","box":{"ne":\#(p),"sw":null}"#, ".box.sw"),
        (
            #""type":"geobox","field":"f","box":{"ne":\#(p),"sw":{"_type":"point","lat":-91,"lon":1}}"#,
            ".box.sw.lat"
        ),
        (#""type":"geobox","field":"f","box":{"ne":\#(p),"sw":\#(p),"nw":\#(p)}"#, ".box.nw"),
        (#""type":"geobox","field":"f","box":{"ne":\#(point(1, 3)),"sw":\#(point(2, 1))}"#, ".box"),
        (#""type":"geobox","field":"f","box":{"ne":\#(p),"sw":\#(p)},"model":"x""#, ".model"),
        // geopolygon
        (#""type":"geopolygon","polygon":{}"#, ".field"),
        (#""type":"geopolygon","field":"f""#, ".polygon"),
        (#""type":"geopolygon","field":"f","polygon":[]"#, ".polygon"),
        (#""type":"geopolygon","field":"f","polygon":{}"#, ".polygon.type"),
        (
            #""type":"geopolygon","field":"f","polygon":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]},"x":1"#,
            ".x"
        ),
        // geocorridor
        (#""type":"geocorridor","line":\#(line),"width":1"#, ".field"),
        (#""type":"geocorridor","field":"f","width":1"#, ".line"),
        (#""type":"geocorridor","field":"f","line":[],"width":1"#, ".line"),
        (#""type":"geocorridor","field":"f","line":null,"width":1"#, ".line"),
        (#""type":"geocorridor","field":"f","line":\#(line)"#, ".width"),
        (#""type":"geocorridor","field":"f","line":\#(line),"width":0"#, ".width"),
        (#""type":"geocorridor","field":"f","line":\#(line),"width":-1"#, ".width"),
        (#""type":"geocorridor","field":"f","line":\#(line),"width":1000000.001"#, ".width"),
        (#""type":"geocorridor","field":"f","line":\#(line),"width":1e400"#, ".width"),
        (#""type":"geocorridor","field":"f","line":\#(line),"width":"1""#, ".width"),
        (#""type":"geocorridor","field":"f","line":\#(line),"width":null"#, ".width"),
        (
            #""type":"geocorridor","field":"f","line":\#(line),"width":1,"putDistanceInto":"1d""#,
            ".putDistanceInto"
        ),
        (
            #""type":"geocorridor","field":"f","line":\#(line),"width":1,"putAlongInto":5"#,
            ".putAlongInto"
        ),
        (
            #""type":"geocorridor","field":"f","line":\#(line),"width":1,"putDistanceInto":"x","putAlongInto":"x""#,
            ".putAlongInto"
        ),
        (
            #""type":"geocorridor","field":"f","line":\#(line),"width":1,"model":"sphere""#,
            ".model"
        ),
        // geodistance
        (#""type":"geodistance","center":\#(p),"radius":1"#, ".field"),
        (#""type":"geodistance","field":"f","radius":1"#, ".center"),
        (#""type":"geodistance","field":"f","center":{"lat":1,"lon":2},"radius":1"#, ".center"),
        (
            #""type":"geodistance","field":"f","center":{"_type":"point","lat":"1","lon":2}"#,
            ".center.lat"
        ),
        (
            #""type":"geodistance","field":"f","center":{"_type":"point","lat":1,"lon":-181}"#,
            ".center.lon"
        ),
        (#""type":"geodistance","field":"f","center":\#(p),"radius":0"#, ".radius"),
        (#""type":"geodistance","field":"f","center":\#(p),"radius":-0.0"#, ".radius"),
        (#""type":"geodistance","field":"f","center":\#(p),"radius":-1"#, ".radius"),
        (#""type":"geodistance","field":"f","center":\#(p),"radius":1e-400"#, ".radius"),
        (#""type":"geodistance","field":"f","center":\#(p),"radius":20015115.001"#, ".radius"),
        (#""type":"geodistance","field":"f","center":\#(p),"radius":1e400"#, ".radius"),
        (#""type":"geodistance","field":"f","center":\#(p),"radius":"1""#, ".radius"),
        (#""type":"geodistance","field":"f","center":\#(p),"radius":null"#, ".radius"),
        (
            #""type":"geodistance","field":"f","center":\#(p),"putDistanceInto":"""#,
            ".putDistanceInto"
        ),
        (
            #""type":"geodistance","field":"f","center":\#(p),"putDistanceInto":"1d""#,
            ".putDistanceInto"
        ),
        (
            #""type":"geodistance","field":"f","center":\#(p),"putDistanceInto":"d-d""#,
            ".putDistanceInto"
        ),
        (
            #""type":"geodistance","field":"f","center":\#(p),"putDistanceInto":"d.e""#,
            ".putDistanceInto"
        ),
        (
            #""type":"geodistance","field":"f","center":\#(p),"putDistanceInto":"é""#,
            ".putDistanceInto"
        ),
        (
            #""type":"geodistance","field":"f","center":\#(p),"putDistanceInto":"d\n""#,
            ".putDistanceInto"
        ),
        (
            #""type":"geodistance","field":"f","center":\#(p),"putDistanceInto":1"#,
            ".putDistanceInto"
        ),
        (#""type":"geodistance","field":"f","center":\#(p),"model":"flat""#, ".model"),
        (#""type":"geodistance","field":"f","center":\#(p),"model":null"#, ".model"),
        (#""type":"geodistance","field":"f","center":\#(p),"model":"WGS84""#, ".model"),
        (#""type":"geodistance","field":"f","center":\#(p),"unit":"km""#, ".unit"),
        // contains
        (#""type":"contains","value":1"#, ".field"), (#""type":"contains","field":"f""#, ".value"),
        (#""type":"contains","field":"f","value":[1]"#, ".value"),
        (#""type":"contains","field":"f","value":{"a":1}"#, ".value"),
        (#""type":"contains","field":"f","value":1,"values":[1]"#, ".values"),
        // like
        (#""type":"like","field":"f""#, ".pattern"), (#""type":"like","pattern":"a""#, ".field"),
        (#""type":"like","field":"f","pattern":1"#, ".pattern"),
        (#""type":"like","field":"f","pattern":"a\\""#, ".pattern"),
        (#""type":"like","field":"f","pattern":"a","ignoreCase":1"#, ".ignoreCase"),
        (#""type":"like","field":"f","pattern":"a","value":"a""#, ".value"),
        // and, or, not
        (#""type":"and""#, ".clauses"), (#""type":"or","clauses":[]"#, ".clauses"),
        (#""type":"and","clauses":{"type":"all"}"#, ".clauses"),
        (#""type":"and","clauses":null"#, ".clauses"),
        (#""type":"or","clauses":[{"type":"all"},7]"#, ".clauses[1]"),
        (#""type":"or","clauses":[null]"#, ".clauses[0]"),
        (#""type":"and","clauses":[{"type":"all"}],"clause":{"type":"all"}"#, ".clause"),
        (#""type":"not""#, ".clause"), (#""type":"not","clause":[]"#, ".clause"),
        (#""type":"not","clause":null"#, ".clause"),
        (#""type":"not","clause":{"type":"all"},"clauses":[]"#, ".clauses"),
    ]

    @Test func `Whatever is no clause is refused with the path of the member at fault`()
        async throws
    {
        try await TestService.with { service async throws in
            for (members, path) in Self.faults {
                let clause = "{\(members)}"
                func refused(_ prefix: String) -> String {
                    "INVALID_INPUT_DATA bucketQuery.clause\(prefix)\(path)"
                }
                #expect(try await service.queryOutcome(clause) == refused(""), "\(members)")
                let inside =
                    #"{"type":"or","clauses":[{"type":"all"},{"type":"not","clause":\#(clause)}]}"#
                #expect(
                    try await service.queryOutcome(inside) == refused(".clauses[1].clause"),
                    "\(members)")
                let params = #"{"bucket":"b1","bucketQuery":{"clause":\#(clause)}}"#
                for method in ["bucket.count", "bucket.deleteWhere", "bucket.explain"] {
                    #expect(try await service.outcome(method, params) == refused(""), "\(members)")
                }
            }
        }
    }

    @Test func `A refusal says what was expected`() async throws {
        try await TestService.with { service in
            for (clause, words) in [
                (
                    #"{"type":"geobox","field":"f","box":{"ne":\#(point(1, 3)),"sw":\#(point(2, 1))}}"#,
                    "swapped"
                ),
                (#"{"type":"all","extra":1}"#, "extra"), (#"{"type":"near"}"#, "geodistance"),
                (#"{"type":"hasField","field":"f","fieldType":"FLOAT"}"#, "DECIMAL"),
                (
                    #"{"type":"geodistance","field":"f","center":\#(Self.p),"radius":0}"#,
                    "greater than 0"
                ),
            ] {
                let failure = try await service.error(
                    "bucket.query", queryParams(clause, "", "", "b1"))
                #expect(failure?.message.contains(words) == true, "\(clause)")
            }
        }
    }

    @Test(arguments: ["null", "[]", "1", #""all""#, "true"])
    func `A clause has to be an object, and so has a query`(_ value: String) async throws {
        try await TestService.with { service async throws in
            #expect(
                try await service.queryOutcome(value) == "INVALID_INPUT_DATA bucketQuery.clause")
            for method in ["bucket.query", "bucket.count", "bucket.deleteWhere"] {
                #expect(
                    try await service.outcome(method, #"{"bucket":"b1","bucketQuery":\#(value)}"#)
                        == "INVALID_INPUT_DATA bucketQuery")
            }
        }
    }

    @Test func `An absent clause selects every object`() async throws {
        try await TestService.with { service in
            try await service.store(["o1": "", "o2": ""])
            for query in ["", #","bucketQuery":{}"#, #","bucketQuery":{"clause":{"type":"all"}}"#] {
                #expect(
                    try await service.call("bucket.query", #"{"bucket":"b1"\#(query)}"#).ids
                        == ["o1", "o2"])
                #expect(
                    try await service.text("bucket.count", #"{"bucket":"b1"\#(query)}"#)
                        == #"{"count":2}"#)
            }
        }
    }

    @Test(arguments: [
        (#","bucketQuery":{"order":"a"}"#, "bucketQuery.order"), (#","limit":5"#, "limit"),
        (#","Bucket":"b1""#, "Bucket"), (#","clause":{"type":"all"}"#, "clause"),
    ])
    func `Unknown members of a query and unknown params are refused by name`(
        _ more: String, _ path: String
    ) async throws {
        try await TestService.with { service async throws in
            let failure = try await service.error("bucket.query", #"{"bucket":"b1"\#(more)}"#)
            #expect(failure?.errorCode == "INVALID_INPUT_DATA")
            #expect(failure?.path == path)
            let name = path.split(separator: ".").last ?? ""
            #expect(failure?.message.contains("\"\(name)\"") == true)
        }
    }
}
