import TestSupport
import Testing

/// Writes that are done only over what is older (`ifNewer`).
@Suite struct FreshnessRules {
    private func put(_ object: String, _ more: String = "") -> String {
        #"{"bucket":"b1","id":"o1","object":\#(object),"ifNewer":"fix.at"\#(more)}"#
    }

    @Test func `A late put changes nothing and says so`() async throws {
        try await TestService.with { service in
            let created = try await service.call("object.put", put(#"{"fix":{"at":20}}"#))
            #expect(created.names == ["_id", "_created", "_modified", "_version"])
            for late in [#"{"fix":{"at":20},"n":1}"#, #"{"fix":{"at":19.5}}"#, "{}"] {
                let answer = try await service.call("object.put", put(late))
                #expect(answer.text == #"{"_id":"o1","_version":1,"written":false}"#)
            }
            let stored = try await service.getText("o1")
            #expect(stored.hasSuffix(#""_version":1,"fix":{"at":20}}"#))
            let answer = try await service.call("object.put", put(#"{"fix":{"at":20.5}}"#))
            #expect(answer["_version"]?.int == 2 && answer["written"] == nil)
        }
    }

    @Test func `A late patch changes nothing and says so`() async throws {
        try await TestService.with { service in
            try await service.store(["o1": #""fix":{"at":20,"by":"gps"}"#])
            for (patch, isWritten) in [
                (#"{"n":1}"#, false), (#"{"fix":{"at":20}}"#, false), (#"{"fix":null}"#, false),
                (#"{"fix":{"at":21}}"#, true), (#"{"fix":{"at":"later"}}"#, true),
            ] {
                let answer = try await service.call("object.patch", put(patch))
                #expect((answer["written"] == nil) == isWritten, "\(patch)")
            }
            #expect(try await service.getText("o1").hasSuffix(#""fix":{"at":"later","by":"gps"}}"#))
        }
    }

    @Test func `Of many objects the late ones are told apart`() async throws {
        try await TestService.with { service in
            try await service.store(["o1": #""t":5"#, "o2": #""t":5"#])
            let answer = try await service.call(
                "object.putMany",
                #"{"bucket":"b1","ifNewer":"t","objects":[{"_id":"o1","t":5},{"_id":"o2","t":6},{"_id":"o3"}]}"#
            )
            #expect(
                answer.text == #"{"objects":[{"_id":"o1","_version":1,"written":false},"#
                    + #"{"_id":"o2","_version":2},{"_id":"o3","_version":1}]}"#)
        }
    }

    @Test func `A repeat under its key is told the same`() async throws {
        try await TestService.with { service in
            try await service.store(["o1": #""fix":{"at":20}"#])
            let late = put(#"{"fix":{"at":10}}"#, #","requestKey":"k1""#)
            let first = try await service.call("object.put", late)
            #expect(first["written"]?.bool == false)
            try await service.call("object.put", #"{"bucket":"b1","id":"o1","object":{}}"#)
            #expect(try await service.call("object.put", late).text == first.text)
        }
    }

    @Test func `What is no field to compare is refused`() async throws {
        try await TestService.with { service in
            for field in ["7", "null", #""""#, #""_modified""#, #""_id""#] {
                let params = #"{"bucket":"b1","id":"o1","object":{},"ifNewer":\#(field)}"#
                let outcome = try await service.outcome("object.put", params)
                #expect(outcome == "INVALID_INPUT_DATA ifNewer")
            }
            for (method, params) in [
                ("object.create", #"{"bucket":"b1","object":{},"ifNewer":"t"}"#),
                ("object.delete", #"{"bucket":"b1","id":"o1","ifNewer":"t"}"#),
            ] {
                let outcome = try await service.outcome(method, params)
                #expect(outcome.hasPrefix("INVALID_INPUT_DATA"))
            }
        }
    }
}
