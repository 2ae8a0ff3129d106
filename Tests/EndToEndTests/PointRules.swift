import TestSupport
import Testing

/// GeoPoints in objects and the field paths that lead to them.
@Suite struct PointRules {
    static let faults: KeyValuePairs<String, String> = [
        #""lon":1"#: ".lat",
        #""lat":1"#: ".lon",
        "": ".lat",
        #""lat":"1","lon":1"#: ".lat",
        #""lat":null,"lon":1"#: ".lat",
        #""lat":1,"lon":[1]"#: ".lon",
        #""lat":1,"lon":true"#: ".lon",
        #""lat":90.00000001,"lon":1"#: ".lat",
        #""lat":-91,"lon":1"#: ".lat",
        #""lat":1,"lon":180.0000001"#: ".lon",
        #""lat":1,"lon":-180.0000001"#: ".lon",
        #""lat":1e400,"lon":1"#: ".lat",
        #""lat":1,"lon":-1e400"#: ".lon",
        #""lat":1,"lon":1,"alt":3"#: ".alt",
        #""lat":1,"lon":1,"Lat":3"#: ".Lat",
        #""lat":1,"lat":91,"lon":1"#: ".lat",
    ]

    @Test func `A malformed GeoPoint is refused wherever it stands, and nothing is kept`()
        async throws
    {
        try await TestService.with { service in
            try await service.store(["o1": #""p":\#(point(1, 2))"#])
            for (members, path) in Self.faults {
                let bad = #"{"_type":"point"\#(members.isEmpty ? "" : ",")\#(members)}"#
                for (object, place) in [
                    (#"{"p":\#(bad)}"#, "p"), (#"{"a":{"b":\#(bad)}}"#, "a.b"),
                    (#"{"l":[0,\#(bad)]}"#, "l[1]"), (#"{"l":[[],[{"q":\#(bad)}]]}"#, "l[1][0].q"),
                ] {
                    let refused = "INVALID_INPUT_DATA object.\(place)\(path)"
                    #expect(try await service.putOutcome("o2", object) == refused, "\(members)")
                    let patch = #"{"bucket":"b1","id":"o1","object":\#(object)}"#
                    if place != "p" {
                        #expect(try await service.outcome("object.patch", patch) == refused)
                    }
                }
                let many = #"{"bucket":"b1","objects":[{},{"p":\#(bad)},{}]}"#
                #expect(
                    try await service.outcome("object.putMany", many)
                        == "INVALID_INPUT_DATA objects[1].p\(path)")
            }
            #expect(try await service.ids() == ["o1"])
            #expect(try await service.get("o1")["_version"] == .int(1))
        }
    }

    @Test func `The edges of the ranges are inside them`() async throws {
        try await TestService.with { service in
            for (latitude, longitude) in [
                ("90", "180"), ("-90", "-180"), ("90.0", "-180.0"), ("-0.0", "0"), ("9e1", "1.8e2"),
            ] {
                let object = #"{"p":{"_type":"point","lat":\#(latitude),"lon":\#(longitude)}}"#
                _ = try await service.put("o1", object)
                #expect(try await service.getText("o1").hasSuffix(String(object.dropFirst())))
            }
        }
    }

    @Test func `An object of any other type is a plain object`() async throws {
        try await TestService.with { service in
            try await service.store([
                "o1": #""p":{"_type":"Point","lat":100,"lon":1}"#, "o2": #""p":{"_type":5}"#,
                "o3": #""p":{"_type":"points","lat":"x"}"#, "o4": #""p":{"lat":1,"lon":2}"#,
            ])
            let isObject = #"{"type":"hasField","field":"p","fieldType":"OBJECT"}"#
            #expect(try await service.ids(isObject) == ["o1", "o2", "o3", "o4"])
            let isPoint = #"{"type":"hasField","field":"p","fieldType":"GEOPOINT"}"#
            #expect(try await service.ids(isPoint) == [])
        }
    }

    @Test func `GeoPoints are found at any depth of field path, not below the elements of arrays`()
        async throws
    {
        try await TestService.with { service in
            try await service.store([
                "o1": #""a":{"b":{"c":\#(point(1, 1))}}"#,
                "o2": #""a":{"b":[{"c":\#(point(1, 1))}]}"#,
                "o3": #""a":[[\#(point(1, 1))]]"#,
                "o4": #""a.b.c":\#(point(1, 1))"#,
            ])
            for shape in [
                #""type":"geodistance","center":\#(point(1, 1)),"radius":1"#,
                #""type":"geobox","box":{"ne":\#(point(2, 2)),"sw":\#(point(0, 0))}"#,
            ] {
                #expect(try await service.ids(#"{\#(shape),"field":"a.b.c"}"#) == ["o1", "o4"])
                for field in ["a", "a[0]", "a.0", "a.b", "c", "a.b.c.", ".a.b.c", "a..b.c"] {
                    #expect(try await service.ids(#"{\#(shape),"field":"\#(field)"}"#) == [])
                }
            }
        }
    }

    @Test func `A first-level field whose own name contains a dot wins`() async throws {
        try await TestService.with { service in
            try await service.store([
                "o1": #""a":{"b":1},"a.b":2"#, "o2": #""a.b":3"#, "o3": #""a":{"b":4}"#,
                "o4": #""a":{"b":\#(point(1, 1))},"a.b":5"#,
                "o5": #""a":{"b":6},"a.b":\#(point(1, 1))"#,
                "o6": #""a":{"b.c":7}"#,
            ])
            func having(_ value: Int, in field: String = "a.b") async throws -> [String] {
                try await service.ids(#"{"type":"eq","field":"\#(field)","value":\#(value)}"#)
            }
            for (value, found) in [(1, []), (2, ["o1"]), (3, ["o2"]), (4, ["o3"]), (5, ["o4"])] {
                #expect(try await having(value) == found)
            }
            #expect(try await having(6) == [])
            #expect(try await having(7, in: "a.b.c") == [])
            let near =
                #"{"type":"geodistance","field":"a.b","center":\#(point(1, 1)),"radius":1}"#
            #expect(try await service.ids(near) == ["o5"])
            #expect(
                try await service.ids(order: #""orderBy":"a.b""#)
                    == ["o1", "o2", "o3", "o4", "o5", "o6"])
        }
    }

    @Test func `The members of a GeoPoint have field paths like any other`() async throws {
        try await TestService.with { service in
            try await service.store([
                "o1": #""p":\#(point(3, 20))"#, "o2": #""p":\#(point(1, 30))"#,
                "o3": #""p":\#(point(2, 10))"#,
            ])
            #expect(
                try await service.ids(#"{"type":"range","field":"p.lat","lowerLimit":2}"#)
                    == ["o1", "o3"])
            #expect(try await service.ids(order: #""orderBy":"p.lon""#) == ["o3", "o1", "o2"])
            #expect(
                try await service.ids(#"{"type":"eq","field":"p._type","value":"point"}"#).count
                    == 3)
        }
    }

    @Test func `Longitudes 180 and -180 are the same meridian`() async throws {
        try await TestService.with { service in
            try await service.store([
                "o1": #""p":\#(point(1, 180))"#, "o2": #""p":\#(point(1, -180))"#,
            ])
            for longitude in [180.0, -180] {
                let place = point(1, longitude)
                for clause in [
                    #"{"type":"eq","field":"p","value":\#(place)}"#,
                    #"{"type":"in","field":"p","values":[\#(place)]}"#,
                    #"{"type":"geodistance","field":"p","center":\#(place),"radius":0.000001}"#,
                    #"{"type":"geobox","field":"p","box":{"ne":\#(place),"sw":\#(place)}}"#,
                ] {
                    #expect(try await service.ids(clause) == ["o1", "o2"], "\(clause)")
                }
            }
            #expect(try await service.ids(order: #""orderBy":"p""#) == ["o1", "o2"])
        }
    }
}
