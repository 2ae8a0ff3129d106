import Objects
import TestSupport
import Testing

/// What an object is and what happens to one that is none.
@Suite struct ObjectRules {
    @Test func `An object comes back spelled as it came, without its white space`() async throws {
        let written = #"""
            { "a" : 1.0 , "b":1e5,"c": 12345678901234567890, "d":-0, "e":1.10, "f":[ true , false ,null],
              "g":"\u0041\u00e9\/\" é 😀 \ud83d\ude00 two  blanks", "h":{ "i" : { } , "j":[ ] }, "k":-1E-7,
              "l":100000000000000000000000000000, "":0, "m":{"n":1,"n":2} }
            """#.replacing("\n", with: " ")
        let stored =
            #""a":1.0,"b":1e5,"c":12345678901234567890,"d":-0,"e":1.10,"f":[true,false,null],"#
            + #""g":"\u0041\u00e9\/\" é 😀 \ud83d\ude00 two  blanks","h":{"i":{},"j":[]},"k":-1E-7,"#
            + #""l":100000000000000000000000000000,"":0,"m":{"n":1,"n":2}}"#
        try await TestService.with { service in
            _ = try await service.put("o1", written)
            #expect(try await service.getText("o1").hasSuffix(stored))
            let page = try await service.text("bucket.query", #"{"bucket":"b1"}"#)
            #expect(page.contains(stored))
        }
    }

    @Test func `Predefined fields in a written document are dropped`() async throws {
        let object = #"""
            {"_id":"other","_created":1,"_modified":"x","_version":99,"_owner":"eve","_dataType":"t","_calculated":{"d":1e400},"a":1}
            """#
        try await TestService.with { service in
            let answer = try await service.put("o1", object)
            #expect(answer["_id"] == .string("o1"))
            let read = try await service.get("o1")
            #expect(read.names.sorted() == ["_created", "_id", "_modified", "_version", "a"])
            #expect(read["_version"] == .int(1))
            #expect(read["_created"] == answer["_created"])
            #expect(read["_created"] != .int(1))
            let again = try await service.put("o1", read.text)
            #expect(again["_version"] == .int(2))
            #expect(try await service.ids(#"{"type":"hasField","field":"_owner"}"#) == [])
        }
    }

    @Test(arguments: [
        ("object.create", #"{"bucket":"b1","object":{"_x":1}}"#, "object._x"),
        ("object.put", #"{"bucket":"b1","id":"o1","object":{"a":1,"_":1}}"#, "object._"),
        ("object.put", #"{"bucket":"b1","id":"o1","object":{"_Id":1}}"#, "object._Id"),
        ("object.put", #"{"bucket":"b1","id":"o1","object":{"\u005ftype":1}}"#, "object._type"),
        ("object.patch", #"{"bucket":"b1","id":"o1","object":{"_x":null}}"#, "object._x"),
        ("object.putMany", #"{"bucket":"b1","objects":[{"a":2},{"_x":1}]}"#, "objects[1]._x"),
    ])
    func `Any other first-level name that begins with an underscore is refused`(
        _ method: String, _ params: String, _ path: String
    ) async throws {
        try await TestService.with { service in
            try await service.store(["o1": #""a":1"#])
            #expect(try await service.outcome(method, params) == "INVALID_INPUT_DATA \(path)")
            #expect(try await service.getText("o1").hasSuffix(#""_version":1,"a":1}"#))
            #expect(try await service.ids() == ["o1"])
        }
    }

    @Test func `A nested name may begin with an underscore`() async throws {
        try await TestService.with { service in
            try await service.store(["o1": #""a":{"_x":1,"_id":2}"#])
            #expect(try await service.ids(#"{"type":"eq","field":"a._x","value":1}"#) == ["o1"])
        }
    }

    @Test func `Duplicate first-level names are refused, however they are spelled`() async throws {
        try await TestService.with { service in
            let others = (0..<40).map { #""n\#($0)":0,"# }.joined()
            for object in [
                #"{"a":1,"a":1}"#, #"{"a":1,"b":2,"\u0061":3}"#,
                #"{"a":1,\#(others)"\u0061":3}"#, #"{\#(others)"a":1,"a":3}"#,
            ] {
                #expect(
                    try await service.putOutcome("o1", object) == "INVALID_INPUT_DATA object.a")
            }
            try await service.store(["o2": #""a":1"#])
            let patch = #"{"bucket":"b1","id":"o2","object":{"a":1,"a":2}}"#
            #expect(
                try await service.outcome("object.patch", patch) == "INVALID_INPUT_DATA object.a")
            let many = #"{"bucket":"b1","objects":[{"c":1,"c":1}]}"#
            #expect(
                try await service.outcome("object.putMany", many)
                    == "INVALID_INPUT_DATA objects[0].c")
        }
    }

    @Test func `Of nested duplicates the last counts`() async throws {
        try await TestService.with { service in
            try await service.store([
                "o1": #""a":{"n":1,"n":2}"#,
                "o2": #""a":{"p":\#(point(1, 1)),"p":\#(point(9, 9))}"#,
                "o3": #""a":{"p":\#(point(9, 9)),"p":3}"#,
            ])
            #expect(try await service.ids(#"{"type":"eq","field":"a.n","value":2}"#) == ["o1"])
            #expect(try await service.ids(#"{"type":"eq","field":"a.n","value":1}"#) == [])
            let near = #"{"type":"geodistance","field":"a.p","center":\#(point(9, 9)),"radius":1}"#
            #expect(try await service.ids(near) == ["o2"])
        }
    }

    @Test func `A stored null is read back as null and is not a missing field`() async throws {
        try await TestService.with { service in
            try await service.store(["o1": #""a":null"#, "o2": ""])
            #expect(try await service.getText("o1").hasSuffix(#","a":null}"#))
            #expect(try await service.ids(#"{"type":"hasField","field":"a"}"#) == ["o1"])
            #expect(
                try await service.ids(#"{"type":"hasField","field":"a","fieldType":"NULL"}"#)
                    == ["o1"])
        }
    }

    @Test(arguments: ["[]", "[1]", #""x""#, "1", "true", "null"])
    func `What is written has to be a JSON object`(_ object: String) async throws {
        try await TestService.with { service in
            try await service.store(["o1": ""])
            let params = #"{"bucket":"b1","id":"o1","object":\#(object)}"#
            for method in ["object.put", "object.patch"] {
                #expect(try await service.outcome(method, params) == "INVALID_INPUT_DATA object")
            }
            let create = #"{"bucket":"b1","object":\#(object)}"#
            #expect(
                try await service.outcome("object.create", create) == "INVALID_INPUT_DATA object")
            let many = #"{"bucket":"b1","objects":[{},\#(object)]}"#
            #expect(
                try await service.outcome("object.putMany", many)
                    == "INVALID_INPUT_DATA objects[1]")
        }
    }

    @Test func `An object is given a new lower-case UUID by create, whatever its document says`()
        async throws
    {
        try await TestService.with { service in
            let params = #"{"bucket":"b1","object":{"_id":"mine","a":1}}"#
            let first = try await service.call("object.create", params)["_id"]?.string ?? ""
            let second = try await service.call("object.create", params)["_id"]?.string ?? ""
            #expect(first != second)
            for id in [first, second] {
                #expect(id.wholeMatch(of: /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/) != nil)
            }
            #expect(try await service.ids() == [first, second])
        }
    }

    @Test(arguments: [
        "ab", "A-", "..", "_.-9", String(repeating: "x", count: 100),
    ])
    func `An id is 2 to 100 letters, digits, hyphens, underscores and dots`(_ id: String)
        async throws
    {
        try await TestService.with { service in
            _ = try await service.put(id, #"{"a":1}"#)
            #expect(try await service.get(id)["_id"] == .string(id))
        }
    }

    @Test(arguments: [
        "", "a", String(repeating: "x", count: 101), "a b", "é1", "a/b", "a:b", "a\\n", "a\\u0000b",
    ])
    func `Any other id is refused wherever an id stands`(_ id: String) async throws {
        try await TestService.with { service in
            let named = #"{"bucket":"b1","id":"\#(id)"}"#
            let written = #"{"bucket":"b1","id":"\#(id)","object":{}}"#
            for (method, params) in [
                ("object.get", named), ("object.delete", named), ("object.put", written),
                ("object.patch", written),
            ] {
                let outcome = try await service.outcome(method, params)
                #expect(outcome == "INVALID_OBJECT_ID id", "\(method)")
            }
            let many = #"{"bucket":"b1","objects":[{},{"_id":"\#(id)"}]}"#
            #expect(
                try await service.outcome("object.putMany", many)
                    == "INVALID_OBJECT_ID objects[1]._id")
        }
    }

    @Test func `An id is unique within its bucket, not beyond`() async throws {
        try await TestService.with { service in
            _ = try await service.put("o1", #"{"a":1}"#, in: "b1")
            let other = try await service.put("o1", #"{"a":2}"#, in: "b2")
            #expect(other["_version"] == .int(1))
            #expect(try await service.get("o1", in: "b1")["a"] == .int(1))
            #expect(try await service.get("o1", in: "b2")["a"] == .int(2))
        }
    }

    @Test func `A data type given at creation stays with the object`() async throws {
        try await TestService.with { service in
            let created = try await service.call(
                "object.create", #"{"bucket":"b1","object":{"a":1},"dataType":"shop/é"}"#)
            let id = try #require(created["_id"]?.string)
            #expect(try await service.get(id)["_dataType"] == .string("shop/é"))
            _ = try await service.put(id, #"{"_dataType":"x","a":2}"#)
            #expect(try await service.get(id)["_dataType"] == .string("shop/é"))
            #expect(
                try await service.ids(#"{"type":"eq","field":"_dataType","value":"shop/é"}"#)
                    == [id])
            #expect(
                try await service.outcome(
                    "object.create", #"{"bucket":"b1","object":{},"dataType":1}"#)
                    == "INVALID_INPUT_DATA dataType")
        }
    }

    @Test func `Field names are case-sensitive`() async throws {
        try await TestService.with { service in
            try await service.store(["o1": #""a":1"#, "o2": #""A":1"#, "o3": #""a":1,"A":2"#])
            #expect(
                try await service.ids(#"{"type":"eq","field":"a","value":1}"#) == ["o1", "o3"])
            #expect(try await service.ids(#"{"type":"eq","field":"A","value":1}"#) == ["o2"])
        }
    }
}
