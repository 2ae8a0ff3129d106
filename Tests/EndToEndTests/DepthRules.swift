import Foundation
import Objects
import TestSupport
import Testing

/// How deep arrays and objects of one object may stand inside each other.
@Suite(.timeLimit(.minutes(5))) struct DepthRules {
    /// An object of so many levels, its own included.
    private static func object(levels: Int) -> String {
        #"{"a":"# + inner(levels: levels - 1) + "}"
    }

    /// Objects and arrays by turns.
    private static func inner(levels: Int) -> String {
        (1...levels).reduce("1") { text, level in
            level.isMultiple(of: 2) ? "[\(text)]" : #"{"b":\#(text)}"#
        }
    }

    @Test(arguments: [-1, 0, 1])
    func `An object has 60 levels at most, whatever way it is written`(more: Int) async throws {
        try await TestService.with { service in
            let text = Self.object(levels: 60 + more)
            func expected(_ path: String) -> String {
                more > 0 ? "INVALID_INPUT_DATA \(path).a" : "accepted"
            }
            #expect(try await service.putOutcome("o1", text) == expected("object"))
            #expect(
                try await service.outcome("object.create", #"{"bucket":"b1","object":\#(text)}"#)
                    == expected("object"))
            let many = #"{"bucket":"b1","objects":[{},\#(text)]}"#
            #expect(try await service.outcome("object.putMany", many) == expected("objects[1]"))
            _ = try await service.put("o2", #"{"a":\#(Self.inner(levels: 40))}"#)
            #expect(
                try await service.outcome(
                    "object.patch", #"{"bucket":"b1","id":"o2","object":\#(text)}"#)
                    == expected("object"))
            #expect(try await service.get("o2")["_version"] == .int(more > 0 ? 1 : 2))
        }
    }

    @Test func `A patch is bounded by what it makes of the object`() async throws {
        var limits = Limits()
        limits.objectDepth = 4
        try await TestService.with(limits: limits) { service in
            _ = try await service.put("o1", #"{"a":{"b":{"c":1}}}"#)
            for (patch, outcome) in [
                (#"{"a":{"b":{"c":[[]]}}}"#, "INVALID_INPUT_DATA object.a"),
                (#"{"a":{"b":{"c":[]}}}"#, "accepted"),
                // What a patch takes away may stand anywhere.
                (#"{"x":{"x":{"x":{"x":{"x":null}}}}}"#, "INVALID_INPUT_DATA object.x"),
                (#"{"a":null}"#, "accepted"),
            ] {
                #expect(
                    try await service.outcome(
                        "object.patch", #"{"bucket":"b1","id":"o1","object":\#(patch)}"#)
                        == outcome, "\(patch)")
            }
        }
    }

    @Test func `What a later duplicate hides counts, what is dropped does not`() async throws {
        var limits = Limits()
        limits.objectDepth = 3
        try await TestService.with(limits: limits) { service in
            #expect(
                try await service.putOutcome("o1", #"{"a":{"b":[[1e999,[]]],"b":1}}"#)
                    == "INVALID_INPUT_DATA object.a")
            #expect(
                try await service.putOutcome("o1", #"{"_calculated":{"a":{"b":[[]]}},"a":[[]]}"#)
                    == "accepted")
            let failure = try await service.error(
                "object.put", #"{"bucket":"b1","id":"o2","object":{"a":[[[]]]}}"#)
            #expect(failure?.message.contains("nested 4 levels deep, at most 3") == true)
        }
    }

    @Test(arguments: [60, 500])
    func `What was taken can be read by every client`(levels: Int) async throws {
        var limits = Limits()
        limits.objectDepth = levels
        try await withTemporaryFolder { folder in
            try await TestService.with(limits: limits) { service in
                let text = Self.object(levels: levels)
                _ = try await service.put("o1", text)
                let read = try await service.getText("o1")
                #expect(read.hasSuffix(String(text.dropFirst())))
                #expect(try await service.ids() == ["o1"])
                let server = ["--bucket", "b1", "--server", "127.0.0.1:\(service.port)"]
                for command in [
                    ["query", "--format", "ndjson"], ["query", "--format", "json"],
                    ["query", "--format", "table"], ["query", "--format", "geojson"], ["export"],
                    ["export", "--format", "csv"], ["export", "--format", "geojson"],
                ] {
                    let run = try await Program.run(command + server, folder: folder)
                    #expect(run.status == 0, "\(command): \(run.errors)")
                    #expect(run.output.contains("o1"), "\(command)")
                }
                // A batch adds one level more than any other answer.
                let batch =
                    #"[{"jsonrpc":"2.0","id":1,"method":"bucket.query","params":{"bucket":"b1"}}]"#
                let script = """
                    import json, socket, sys
                    with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as service:
                        service.sendall(sys.argv[2].encode() + b"\\n")
                        answer = json.loads(service.makefile().readline())
                    print(answer[0]["result"]["results"][0]["_id"])
                    """
                let python = try ChildProcess.start(
                    "/usr/bin/env", ["python3", "-c", script, "\(service.port)", batch],
                    folder: folder)
                #expect(await python.end() == 0, "\(python.standardError)")
                #expect(python.standardOutput == "o1\n")
            }
        }
    }
}
