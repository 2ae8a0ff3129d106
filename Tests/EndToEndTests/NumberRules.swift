import TestSupport
import Testing

/// Numbers: integer literals by their 64 bits, all else as the nearest binary64.
@Suite struct NumberRules {
    /// Spellings that are one value; those of different rows are different values. Ascending.
    static let values: [[String]] = [
        ["-1.7976931348623157e308", "-1.7976931348623157E+308"],
        ["-9223372036854777856", "-9223372036854777856.0"],
        [
            "-9223372036854775808", "-9223372036854775808.0", "-9.223372036854775808e18",
            "-9223372036854775809",
        ],
        ["-9223372036854775807"],
        ["-9007199254740993"],
        ["-9007199254740992", "-9007199254740993.0", "-9007199254740992e0"],
        ["-1", "-1.0", "-10e-1"],
        ["-5e-324"],
        ["0", "-0", "0.0", "-0.0", "0e9", "1e-400", "-1e-400"],
        ["5e-324"],
        ["0.1", "1e-1", "0.1000000000000000055511151231257827021181583404541015625"],
        ["0.30000000000000004"],
        ["1", "1.0", "10e-1", "0.1e1", "1E0", "1e+0"],
        ["1.5"],
        ["9007199254740992", "9007199254740993.0", "9007199254740992.0"],
        ["9007199254740993"],
        ["9007199254740994", "9007199254740994.0"],
        ["9223372036854774784", "9223372036854774784.0"],
        ["9223372036854775806"],
        ["9223372036854775807"],
        ["9223372036854775808", "9223372036854775807.0", "9223372036854775808.0"],
        ["9223372036854775809"],
        ["18446744073709551614"],
        ["18446744073709551615"],
        ["18446744073709551616", "18446744073709551615.0", "18446744073709551617"],
        ["1e20", "100000000000000000000"],
        ["1.7976931348623157e308", "17976931348623157e292"],
    ]

    @Test func `Numbers are equal by value alone, integer literals exactly`() async throws {
        try await TestService.with { service in
            var objects: [(String, String)] = []
            for (row, spellings) in Self.values.enumerated() {
                for (index, spelling) in spellings.enumerated() {
                    objects.append(("r\(row).\(index)", "\"n\":\(spelling)"))
                }
            }
            try await service.store(objects)
            for (row, spellings) in Self.values.enumerated() {
                let same = spellings.indices.map { "r\(row).\($0)" }
                for spelling in spellings {
                    let eq = #"{"type":"eq","field":"n","value":\#(spelling)}"#
                    #expect(try await service.ids(eq) == same, "\(spelling)")
                    let isIn = #"{"type":"in","field":"n","values":["x",\#(spelling)]}"#
                    #expect(try await service.ids(isIn) == same, "\(spelling)")
                }
            }
        }
    }

    @Test func `Numbers range by value alone, integer literals exactly`() async throws {
        try await TestService.with { service in
            try await service.store(
                Self.values.enumerated().map { ("r\($0)", "\"n\":\($1[0])") })
            let all = Self.values.indices.map { "r\($0)" }
            for (row, spellings) in Self.values.enumerated() {
                let limit = spellings[spellings.count - 1]
                let above =
                    #"{"type":"range","field":"n","lowerLimit":\#(limit),"lowerIncluded":false}"#
                #expect(try await service.ids(above) == Array(all[(row + 1)...]), "\(limit)")
                let upTo = #"{"type":"range","field":"n","upperLimit":\#(limit)}"#
                #expect(try await service.ids(upTo) == Array(all[...row]), "\(limit)")
            }
        }
    }

    @Test func `A number outside both ranges is refused where it stands`() async throws {
        let long = "1" + String(repeating: "0", count: 400)
        try await TestService.with { service in
            for number in ["1e400", "-1e400", "1.8e308", long, "-" + long] {
                for (object, path) in [
                    (#"{"a":\#(number)}"#, "object.a"),
                    (#"{"a":{"b":\#(number)}}"#, "object.a.b"),
                    (#"{"a":[1,{"b":[\#(number)]}]}"#, "object.a[1].b[0]"),
                ] {
                    let outcome = try await service.putOutcome("o1", object)
                    #expect(outcome == "INVALID_INPUT_DATA \(path)", "\(number.prefix(20))")
                }
                let patch = #"{"bucket":"b1","id":"o2","object":{"a":{"b":\#(number)}}}"#
                try await service.store(["o2": ""])
                #expect(
                    try await service.outcome("object.patch", patch)
                        == "INVALID_INPUT_DATA object.a.b")
                let clause = "bucketQuery.clause"
                for (query, path) in [
                    (#"{"type":"eq","field":"n","value":\#(number)}"#, "\(clause).value"),
                    (#"{"type":"in","field":"n","values":[1,\#(number)]}"#, "\(clause).values[1]"),
                    (#"{"type":"contains","field":"n","value":\#(number)}"#, "\(clause).value"),
                    (
                        #"{"type":"range","field":"n","lowerLimit":\#(number)}"#,
                        "\(clause).lowerLimit"
                    ),
                ] {
                    #expect(
                        try await service.queryOutcome(query) == "INVALID_INPUT_DATA \(path)")
                }
            }
            #expect(try await service.ids() == ["o2"])
        }
    }
}
