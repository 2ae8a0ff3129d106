import TestSupport
import Testing

/// Writes of one object: what they do, what they answer, when they are refused.
@Suite struct ObjectWriteRules {
    private func params(_ object: String, more: String = "", id: String = "o1") -> String {
        #"{"bucket":"b1","id":"\#(id)","object":\#(object)\#(more)}"#
    }

    @Test func `A write of an object answers its id, times and version`() async throws {
        let clock = TestClock(1_700_000_000_123)
        try await TestService.with(clock: clock) { service in
            let names = ["_id", "_created", "_modified", "_version"]
            let time = JSONValue.int(1_700_000_000_123)
            let created = try await service.call(
                "object.create", #"{"bucket":"b1","object":{"a":1}}"#)
            let put = try await service.put("o1", #"{"a":1}"#)
            for answer in [created, put] {
                #expect(answer.names == names)
                #expect(answer["_created"] == time)
                #expect(answer["_modified"] == time)
                #expect(answer["_version"] == .int(1))
            }
            clock.now += 5
            let later = JSONValue.int(1_700_000_000_128)
            let patched = try await service.call("object.patch", params(#"{"b":2}"#))
            #expect(
                patched
                    == .object([
                        "_id": .string("o1"), "_created": time, "_modified": later,
                        "_version": .int(2),
                    ]))
            let read = try await service.get("o1")
            for name in names { #expect(read[name] == patched[name]) }
        }
    }

    @Test func `A put replaces the whole object and keeps its time of creation`() async throws {
        let clock = TestClock(1_000)
        try await TestService.with(clock: clock) { service in
            _ = try await service.put("o1", #"{"a":1,"b":{"c":1}}"#)
            clock.now = 2_000
            _ = try await service.put("o1", #"{"b":2}"#)
            #expect(
                try await service.getText("o1")
                    == #"{"_id":"o1","_created":1000,"_modified":2000,"_version":2,"b":2}"#)
        }
    }

    @Test
    func `A patch that stores nulls removes nothing, and one that is asked returns the object`()
        async throws
    {
        try await TestService.with(clock: TestClock(10)) { service in
            _ = try await service.put("o1", #"{"a":1,"b":{"c":1,"d":2}}"#)
            let patch = #"{"a":null,"b":{"c":null},"e":{"f":null}}"#
            let stored = #""a":null,"b":{"c":null,"d":2},"e":{"f":null}}"#
            let answer = try await service.text(
                "object.patch", params(patch, more: #","storeNulls":true,"returnObject":true"#))
            let fields = #"{"_id":"o1","_created":10,"_modified":10,"_version":2"#
            #expect(answer == #"\#(fields),"object":\#(fields),\#(stored)}"#)
            #expect(try await service.getText("o1") == "\(fields),\(stored)")
            _ = try await service.call("object.patch", params(patch))
            #expect(
                try await service.getText("o1")
                    == #"{"_id":"o1","_created":10,"_modified":10,"_version":3,"b":{"d":2},"e":{}}"#
            )
            let outcome = try await service.outcome(
                "object.patch", params("{}", more: #","returnObject":true,"requestKey":"k1""#))
            #expect(outcome == "INVALID_INPUT_DATA returnObject")
        }
    }

    @Test func `A put gives a data type to the object that it creates, and to no other`()
        async throws
    {
        try await TestService.with { service in
            for (type, version) in [("one", 1), ("two", 2)] {
                let answer = try await service.call(
                    "object.put", params("{}", more: #","dataType":"\#(type)""#))
                #expect(answer["_version"] == .int(version))
                #expect(try await service.get("o1")["_dataType"] == .string("one"))
            }
            for type in ["", String(repeating: "x", count: 201)] {
                let outcome = try await service.outcome(
                    "object.put", params("{}", more: #","dataType":"\#(type)""#))
                #expect(outcome == "INVALID_INPUT_DATA dataType")
            }
        }
    }

    @Test func `Every answered write is a change, also one that alters nothing`() async throws {
        let clock = TestClock(10)
        try await TestService.with(clock: clock) { service in
            for version in 1...3 {
                clock.now += 1
                let answer = try await service.put("o1", #"{"a":1}"#)
                #expect(answer["_version"] == .int(version))
                #expect(answer["_modified"] == .int(10 + version))
            }
            let patched = try await service.call("object.patch", params("{}"))
            #expect(patched["_version"] == .int(4))
            try await service.call(
                "object.putMany", #"{"bucket":"b1","objects":[{"_id":"o1","a":1}]}"#)
            #expect(try await service.get("o1")["_version"] == .int(5))
        }
    }

    @Test func `The time of modification never goes backwards, whatever the clock does`()
        async throws
    {
        let clock = TestClock(5_000)
        try await TestService.with(clock: clock) { service in
            _ = try await service.put("o1", "{}")
            clock.now = 3_000
            let put = try await service.put("o1", "{}")
            #expect(put["_modified"] == .int(5_000))
            let patched = try await service.call("object.patch", params("{}"))
            #expect(patched["_modified"] == .int(5_000))
            try await service.store(["o1": "", "o2": ""])
            #expect(try await service.get("o1")["_modified"] == .int(5_000))
            #expect(try await service.get("o2")["_created"] == .int(3_000))
            clock.now = 5_001
            let later = try await service.put("o1", "{}")
            #expect(later["_modified"] == .int(5_001))
            #expect(later["_created"] == .int(5_000))
        }
    }

    @Test func `An object deleted and created anew is a new object`() async throws {
        let clock = TestClock(5_000)
        try await TestService.with(clock: clock) { service in
            _ = try await service.put("o1", #"{"a":1}"#)
            _ = try await service.put("o1", #"{"a":2}"#)
            let named = #"{"bucket":"b1","id":"o1"}"#
            #expect(try await service.text("object.delete", named) == "{}")
            #expect(try await service.outcome("object.get", named) == "OBJECT_NOT_FOUND")
            #expect(try await service.outcome("object.delete", named) == "OBJECT_NOT_FOUND")
            clock.now = 4_000
            _ = try await service.put("o1", #"{"b":3}"#)
            #expect(
                try await service.getText("o1")
                    == #"{"_id":"o1","_created":4000,"_modified":4000,"_version":1,"b":3}"#)
        }
    }

    @Test func `A write with a version is done only on that version`() async throws {
        try await TestService.with { service in
            _ = try await service.put("o1", #"{"a":1}"#)
            _ = try await service.put("o1", #"{"a":2}"#)
            for method in ["object.put", "object.patch", "object.delete"] {
                let object = method == "object.delete" ? "" : #","object":{"a":3}"#
                for version in ["1", "3", "9223372036854775807"] {
                    let params = #"{"bucket":"b1","id":"o1"\#(object),"ifVersion":\#(version)}"#
                    let outcome = try await service.outcome(method, params)
                    #expect(outcome.hasPrefix("OBJECT_VERSION_IS_STALE"), "\(method)")
                }
                for bad in ["\"2\"", "null", "1.5", "true", "1e400"] {
                    let params = #"{"bucket":"b1","id":"o1"\#(object),"ifVersion":\#(bad)}"#
                    #expect(
                        try await service.outcome(method, params) == "INVALID_INPUT_DATA ifVersion")
                }
                for place in [#""bucket":"b1","id":"o9""#, #""bucket":"b9","id":"o1""#] {
                    let params = #"{\#(place)\#(object),"ifVersion":2}"#
                    #expect(try await service.outcome(method, params) == "OBJECT_NOT_FOUND")
                }
            }
            #expect(try await service.getText("o1").hasSuffix(#""_version":2,"a":2}"#))
            let put = try await service.put("o1", #"{"a":4}"#, more: #","ifVersion":2"#)
            #expect(put["_version"] == .int(3))
            try await service.call("object.patch", params(#"{"a":5}"#, more: #","ifVersion":3"#))
            try await service.call("object.delete", #"{"bucket":"b1","id":"o1","ifVersion":4}"#)
            #expect(try await service.ids() == [])
        }
    }

    @Test func `A put with ifAbsent creates and never replaces`() async throws {
        try await TestService.with { service in
            _ = try await service.put("o1", #"{"a":1}"#, more: #","ifAbsent":true"#)
            #expect(
                try await service.putOutcome("o1", #"{"a":2}"#, more: #","ifAbsent":true"#)
                    == "OBJECT_ALREADY_EXISTS id")
            #expect(try await service.getText("o1").hasSuffix(#""_version":1,"a":1}"#))
            _ = try await service.put("o1", #"{"a":3}"#, more: #","ifAbsent":false"#)
            #expect(try await service.get("o1")["a"] == .int(3))
            #expect(
                try await service.putOutcome("o1", "{}", more: #","ifAbsent":1"#)
                    == "INVALID_INPUT_DATA ifAbsent")
            #expect(
                try await service.outcome("object.patch", params("{}", more: #","ifAbsent":true"#))
                    == "INVALID_INPUT_DATA ifAbsent")
            try await service.call("object.delete", #"{"bucket":"b1","id":"o1"}"#)
            _ = try await service.put("o1", "{}", more: #","ifAbsent":true"#)
        }
    }

    @Test func `A patch merges at every level, removes by null and replaces all else`()
        async throws
    {
        let object =
            #"{"a":1.0,"b":{"c":{"d":1,"e":"\u0041"},"f":[1,2]},"n":null,"p":\#(point(1, 2))}"#
        let patch =
            #"{"z":{"y":null,"x":1e0},"a":null,"b":{"c":{"d":null,"g":true},"f":[null]},"p":{"lat":5}}"#
        try await TestService.with { service in
            _ = try await service.put("o1", object)
            try await service.call("object.patch", params(patch))
            let expected = try JSONValue(
                parsing: #"""
                    {"b":{"c":{"e":"A","g":true},"f":[null]},"n":null,"p":{"_type":"point","lat":5,"lon":2},"z":{"x":1}}
                    """#)
            let read = try await service.get("o1")
            for name in ["b", "n", "p", "z"] { #expect(read[name] == expected[name], "\(name)") }
            #expect(read["a"] == nil)
            #expect(try await service.getText("o1").contains(#""e":"\u0041""#))
            let near =
                #"{"type":"geodistance","field":"p","center":\#(point(5, 2)),"radius":1}"#
            #expect(try await service.ids(near) == ["o1"])
            try await service.call("object.patch", params(#"{"p":{"_type":null},"_version":9}"#))
            #expect(try await service.ids(near) == [])
            #expect(try await service.get("o1")["_version"] == .int(3))
        }
    }

    @Test func `A patch whose outcome is no valid object is refused and changes nothing`()
        async throws
    {
        try await TestService.with { service in
            _ = try await service.put("o1", #"{"p":\#(point(1, 2)),"q":{"lat":99}}"#)
            for (patch, path) in [
                (#"{"p":{"lat":91}}"#, "object.p.lat"), (#"{"p":{"lon":null}}"#, "object.p.lon"),
                (#"{"p":{"alt":1}}"#, "object.p.alt"),
                (#"{"a":1,"q":{"_type":"point"}}"#, "object.q.lat"),
            ] {
                #expect(
                    try await service.outcome("object.patch", params(patch))
                        == "INVALID_INPUT_DATA \(path)")
            }
            #expect(try await service.get("o1")["_version"] == .int(1))
            #expect(
                try await service.outcome("object.patch", params("{}", id: "o2"))
                    == "OBJECT_NOT_FOUND")
        }
    }

    @Test func `What was answered is seen by every connection`() async throws {
        let read =
            #"{"jsonrpc":"2.0","id":1,"method":"object.get","params":{"bucket":"b1","id":"o1"}}"#
        try await TestService.with { service in
            try await service.call("object.put", params(#"{"a":0}"#))
            try RawConnection.with(port: service.port) { raw in
                try RawConnection.with(port: service.port) { other in
                    for number in 1...50 {
                        let params = params(#"{"a":\#(number)}"#)
                        try raw.send(
                            #"{"jsonrpc":"2.0","id":1,"method":"object.put","params":\#(params)}"#
                                + "\n")
                        _ = try raw.line()
                        try other.send(read + "\n")
                        let line = try #require(try other.line())
                        #expect(line.hasSuffix(#""a":\#(number)}}"#))
                    }
                }
            }
        }
    }
}
