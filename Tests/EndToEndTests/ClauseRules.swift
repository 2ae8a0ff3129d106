import TestSupport
import Testing

/// For which objects a clause is true, false and unknown.
///
/// An object for which a clause is true is selected by it; one for which it is false, by its `not`;
/// one for which it is unknown, by neither.
struct Truths: Equatable, CustomStringConvertible {
    var yes: [String]
    var no: [String]

    init(_ yes: [String], no: [String]) {
        self.yes = yes.sorted()
        self.no = no.sorted()
    }

    var description: String { "true for \(yes), false for \(no)" }
}

extension TestService {
    func truths(_ clause: String) async throws -> Truths {
        let no = try await ids(#"{"type":"not","clause":\#(clause)}"#)
        return Truths(try await ids(clause), no: no)
    }
}

/// Each type of clause on a field of each type.
@Suite struct ClauseRules {
    /// One object for each kind of value of the field `f`; `missing` has none.
    static let objects: [(String, String)] = [
        ("missing", ""), ("null", #""f":null"#), ("true", #""f":true"#), ("false", #""f":false"#),
        ("zero", #""f":0"#), ("one", #""f":1"#), ("one.0", #""f":1.0"#), ("half", #""f":0.5"#),
        ("e300", #""f":1e300"#), ("empty", #""f":"""#), ("abc", #""f":"abc""#),
        ("one-text", #""f":"1""#), ("place", #""f":\#(point(1, 2))"#),
        ("list", #""f":[1,"abc",null,\#(point(1, 2)),true,[2]]"#), ("none", #""f":[]"#),
        ("object", #""f":{"a":1}"#),
    ]
    static let present = objects.map(\.0).filter { $0 != "missing" }
    static let numbers = ["zero", "one", "one.0", "half", "e300"]
    static let strings = ["empty", "abc", "one-text"]

    private func check(_ rows: [(String, Truths)]) async throws {
        try await TestService.with { service in
            try await service.store(Self.objects)
            for (members, expected) in rows {
                let type = members.hasPrefix(#""type""#) ? members : #""type":\#(members)"#
                let found = try await service.truths("{\(type)}")
                #expect(found == expected, "\(members)")
                #expect(try await service.count("{\(type)}") == expected.yes.count, "\(members)")
            }
        }
    }

    private static func truths(_ yes: [String], among known: [String]) -> Truths {
        Truths(yes, no: known.filter { !yes.contains($0) })
    }

    @Test func `all is true for every object`() async throws {
        try await check([(#""all""#, Truths(Self.objects.map(\.0), no: []))])
    }

    @Test func `eq is true for the same value and unknown for values of another type`()
        async throws
    {
        func row(_ value: String, _ yes: [String], _ known: [String]) -> (String, Truths) {
            (#""eq","field":"f","value":\#(value)"#, Self.truths(yes, among: known))
        }
        try await check([
            row("1", ["one", "one.0"], Self.numbers), row("0.5", ["half"], Self.numbers),
            row("-0.0", ["zero"], Self.numbers), row("7", [], Self.numbers),
            row("1e300", ["e300"], Self.numbers), row(#""1""#, ["one-text"], Self.strings),
            row(#""abc""#, ["abc"], Self.strings), row(#""ABC""#, [], Self.strings),
            row(#""""#, ["empty"], Self.strings), row("true", ["true"], ["true", "false"]),
            row("false", ["false"], ["true", "false"]), row("null", ["null"], Self.present),
            row(point(1, 2), ["place"], ["place"]), row(point(2, 1), [], ["place"]),
        ])
    }

    @Test func `in is the or of its eqs: unknown unless true, or false for every value`()
        async throws
    {
        func row(_ values: String, _ yes: [String], no: [String]) -> (String, Truths) {
            (#""in","field":"f","values":[\#(values)]"#, Truths(yes, no: no))
        }
        let ones = ["one", "one.0"]
        try await check([
            row("1", ones, no: ["zero", "half", "e300"]),
            row("1,0.5,1.0", ones + ["half"], no: ["zero", "e300"]),
            row("null", ["null"], no: Self.present.filter { $0 != "null" }),
            row("null,1", ones + ["null"], no: ["zero", "half", "e300"]),
            row(#"1,"abc""#, ones + ["abc"], no: []),
            row(#"true,null,0.5,"x""#, ["true", "null", "half"], no: []),
            row("\(point(1, 2)),false,false", ["place", "false"], no: []),
        ])
    }

    @Test func `range holds between its limits, each included or not`() async throws {
        func row(_ limits: String, _ yes: [String], _ known: [String]) -> (String, Truths) {
            (#""range","field":"f",\#(limits)"#, Self.truths(yes, among: known))
        }
        let ones = ["one", "one.0"]
        try await check([
            row(#""lowerLimit":1"#, ones + ["e300"], Self.numbers),
            row(#""lowerLimit":1.0,"lowerIncluded":true"#, ones + ["e300"], Self.numbers),
            row(#""lowerLimit":1,"lowerIncluded":false"#, ["e300"], Self.numbers),
            row(#""upperLimit":1"#, ones + ["zero", "half"], Self.numbers),
            row(#""upperLimit":1,"upperIncluded":false"#, ["zero", "half"], Self.numbers),
            row(#""lowerLimit":0,"upperLimit":1"#, ones + ["zero", "half"], Self.numbers),
            row(
                #""lowerLimit":0,"lowerIncluded":false,"upperLimit":1,"upperIncluded":false"#,
                ["half"], Self.numbers),
            row(#""upperLimit":0,"lowerIncluded":false"#, ["zero"], Self.numbers),
            row(#""lowerLimit":1,"upperLimit":1"#, ones, Self.numbers),
            row(#""lowerLimit":5,"upperLimit":3"#, [], Self.numbers),
            row(#""lowerLimit":1,"upperLimit":1,"upperIncluded":false"#, [], Self.numbers),
            row(#""lowerLimit":"1""#, ["one-text", "abc"], Self.strings),
            row(#""lowerLimit":"","upperLimit":"ab""#, ["empty", "one-text"], Self.strings),
            row(#""lowerLimit":"","lowerIncluded":false"#, ["one-text", "abc"], Self.strings),
            row(#""lowerLimit":"b","upperLimit":"a""#, [], Self.strings),
        ])
    }

    @Test func `prefix is true for a string that begins so`() async throws {
        func row(_ prefix: String, _ yes: [String]) -> (String, Truths) {
            (#""prefix","field":"f","prefix":"\#(prefix)""#, Self.truths(yes, among: Self.strings))
        }
        try await check([
            row("", Self.strings), row("a", ["abc"]), row("abc", ["abc"]), row("abcd", []),
            row("A", []), row("1", ["one-text"]), row("bc", []),
        ])
    }

    @Test func `like is true for a string that is as the pattern says`() async throws {
        func row(_ pattern: String, _ yes: [String], _ more: String = "") -> (String, Truths) {
            (
                #""like","field":"f","pattern":"\#(pattern)"\#(more)"#,
                Self.truths(yes, among: Self.strings)
            )
        }
        let anyCase = #","ignoreCase":true"#
        try await check([
            row("%", Self.strings), row("abc", ["abc"]), row("a%", ["abc"]), row("%b%", ["abc"]),
            row("_b_", ["abc"]), row("_b", []), row("%_c", ["abc"]), row("A_C", []),
            row("A_C", ["abc"], anyCase), row("A_C", [], #","ignoreCase":false"#),
            row(#"a\\_c"#, []), row(#"\\a\\b%"#, ["abc"]), row("1", ["one-text"]),
        ])
    }

    @Test func `contains is true for a string with the part or an array with the element`()
        async throws
    {
        func row(_ value: String, _ yes: [String], strings: Bool = false) -> (String, Truths) {
            (
                #""contains","field":"f","value":\#(value)"#,
                Self.truths(yes, among: ["list", "none"] + (strings ? Self.strings : []))
            )
        }
        try await check([
            row(#""b""#, ["abc"], strings: true), row(#""abc""#, ["abc", "list"], strings: true),
            row(#""""#, Self.strings, strings: true), row(#""B""#, [], strings: true),
            row("1", ["list"]), row("1.0", ["list"]), row("2", []), row("null", ["list"]),
            row("true", ["list"]), row("false", []), row(point(1, 2), ["list"]),
            row(point(2, 2), []),
        ])
    }

    @Test func `hasField asks for presence or for a type and is never unknown`() async throws {
        func row(_ type: String, _ yes: [String]) -> (String, Truths) {
            (
                #""hasField","field":"f""# + (type.isEmpty ? "" : #","fieldType":"\#(type)""#),
                Self.truths(yes, among: Self.objects.map(\.0))
            )
        }
        try await check([
            row("", Self.present), row("STRING", Self.strings),
            row("INTEGER", ["zero", "one", "one.0", "e300"]), row("DECIMAL", ["half"]),
            row("BOOLEAN", ["true", "false"]), row("GEOPOINT", ["place"]),
            row("ARRAY", ["list", "none"]), row("OBJECT", ["object"]), row("NULL", ["null"]),
        ])
    }

    @Test func `Places are compared where the field has GeoPoints, else it is unknown`()
        async throws
    {
        func geobox(_ south: Double, _ north: Double) -> String {
            #""geobox","field":"f","box":{"ne":\#(point(north, 3)),"sw":\#(point(south, 0))}"#
        }
        func near(_ place: String, _ more: String) -> String {
            #""geodistance","field":"f","center":\#(place)\#(more)"#
        }
        let places = ["place", "list"]
        let (yes, no) = (Truths(places, no: []), Truths([], no: places))
        try await check([
            (geobox(0, 2), yes), (geobox(1, 1), yes), (geobox(2, 3), no),
            (near(point(1, 2), #","radius":1"#), yes), (near(point(9, 9), #","radius":1"#), no),
            (near(point(9, 9), ""), yes), (near(point(-1, -178), #","radius":20015115"#), yes),
        ])
    }

    @Test func `Predefined fields may stand in clauses`() async throws {
        let clock = TestClock(1_000)
        try await TestService.with(clock: clock) { service in
            try await service.store(["o1": ""])
            clock.now = 2_000
            try await service.store(["o2": "", "o1": "", "o3": ""])
            for (clause, ids) in [
                (#""eq","field":"_id","value":"o2""#, ["o2"]),
                (#""in","field":"_id","values":["o3","o1","x9","o1",5,null]"#, ["o1", "o3"]),
                (#""eq","field":"_id","value":5"#, []), (#""eq","field":"_id","value":null"#, []),
                (#""prefix","field":"_id","prefix":"o""#, ["o1", "o2", "o3"]),
                (#""range","field":"_created","lowerLimit":2000"#, ["o2", "o3"]),
                (#""eq","field":"_modified","value":2000.0"#, ["o1", "o2", "o3"]),
                (#""eq","field":"_version","value":2"#, ["o1"]),
                (#""hasField","field":"_version","fieldType":"INTEGER""#, ["o1", "o2", "o3"]),
                (#""hasField","field":"_owner""#, []), (#""hasField","field":"_dataType""#, []),
            ] {
                #expect(try await service.ids(#"{"type":\#(clause)}"#) == ids, "\(clause)")
                #expect(try await service.count(#"{"type":\#(clause)}"#) == ids.count, "\(clause)")
            }
            #expect(
                try await service.truths(#"{"type":"eq","field":"_id","value":"o2"}"#)
                    == Truths(["o2"], no: ["o1", "o3"]))
        }
    }
}
