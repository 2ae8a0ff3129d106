import Foundation
import GeoBucketClient
import JSONText
import TestSupport
import Testing

/// Times, versions and owners of objects that move from one service to another.
@Suite struct MetadataTests {
    private static let known =
        #"{"_id":"o1","_created":1000,"_modified":2000,"_version":7,"_owner":"alice","_dataType":"kiosk","_expiresAt":9000000000000,"n":1}"#

    private static func params(_ objects: String, more: String = "") -> String {
        #"{"bucket":"b1","objects":[\#(objects)],"withMetadata":true\#(more)}"#
    }

    @Test func `With metadata an object is stored as it was elsewhere`() async throws {
        try await TestService.with { service in
            try await service.call("object.putMany", Self.params(Self.known))
            #expect(try await service.getText("o1") == Self.known)
            // It goes on from there.
            let patch = try await service.call(
                "object.patch", #"{"bucket":"b1","id":"o1","object":{"n":2},"ifVersion":7}"#)
            #expect(patch["_version"]?.int == 8 && patch["_created"]?.int == 1_000)
            let count = try await service.count(
                #"{"type":"eq","field":"_owner","value":"alice"}"#)
            #expect(count == 1)
            #expect(try await service.call("store.check")["problemCount"]?.int == 0)
        }
    }

    @Test func `What is not given is as in an object that is created`() async throws {
        let clock = TestClock(5_000)
        let now: @Sendable () -> Int64 = { clock.now }
        try await TestService.with(now: now) { service in
            let answer = try await service.call(
                "object.putMany", Self.params("{},{\"_id\":\"o1\"}"))
            #expect(answer["objects"]?[0]?["_version"]?.int == 1)
            #expect(
                try await service.getText("o1")
                    == #"{"_id":"o1","_created":5000,"_modified":5000,"_version":1}"#)
        }
    }

    @Test func `An object in its place is replaced, by a later version`() async throws {
        try await TestService.with { service in
            for _ in 0..<9 { _ = try await service.put("o1", #"{"old":1}"#) }
            _ = try await service.put("o2", "{}")
            try await service.call("object.putMany", Self.params(Self.known))
            let object = try await service.get("o1")
            #expect(object["_version"]?.int == 10 && object["_created"]?.int == 1_000)
            #expect(object["_owner"]?.string == "alice" && object["old"] == nil)
            // Deleted and created: it is the last by creation.
            #expect(try await service.ids() == ["o2", "o1"])
            #expect(try await service.call("store.check")["problemCount"]?.int == 0)
        }
    }

    @Test(arguments: [
        (#"{"_created":-1}"#, "objects[0]._created"), (#"{"_created":"x"}"#, "objects[0]._created"),
        (#"{"_modified":1.5}"#, "objects[0]._modified"),
        (#"{"_version":0}"#, "objects[0]._version"),
        (#"{"_version":9007199254740992}"#, "objects[0]._version"),
        (#"{},{"_owner":"a/b"}"#, "objects[1]._owner"), (#"{"_owner":1}"#, "objects[0]._owner"),
        (#"{"_dataType":""}"#, "objects[0]._dataType"),
        (#"{"_expiresAt":null}"#, "objects[0]._expiresAt"),
    ])
    func `What no object can have is refused with its place`(
        _ objects: String, _ path: String
    ) async throws {
        try await TestService.with { service in
            let outcome = try await service.outcome("object.putMany", Self.params(objects))
            #expect(outcome == "INVALID_INPUT_DATA \(path)")
            let count = try await service.count(#"{"type":"all"}"#)
            #expect(count == 0)
        }
    }

    @Test func `It contradicts an expiry and ifNewer for all`() async throws {
        try await TestService.with { service in
            for more in [#","expiresAt":5"#, #","ifNewer":"n""#] {
                let outcome = try await service.outcome(
                    "object.putMany", Self.params("{}", more: more))
                #expect(outcome == "INVALID_INPUT_DATA withMetadata")
            }
        }
    }

    @Test func `Only administrators restore metadata, and the bucket is theirs`() async throws {
        try await LoginRules.with { guarded in
            let call = (
                "object.putMany",
                #"{"bucket":"shops","objects":[{"_id":"o1","_owner":"bob"}],"withMetadata":true}"#
            )
            let writer = try await guarded.outcomes(as: "writer", [call])
            #expect(writer == ["1403 OPERATION_NOT_ALLOWED withMetadata"])
            let admin = try await guarded.outcomes(as: "admin", [call])
            #expect(admin == ["accepted"])
        }
    }

    @Test(arguments: ["ndjson", "geojson", "csv"])
    func `export and load with metadata carry all of it`(_ format: String) async throws {
        try await Program.withService { service, folder, run in
            let other =
                #"{"_id":"o2","_created":3000,"_modified":3000,"_version":1,"location":{"_type":"point","lat":1.5,"lon":2.5},"n":2}"#
            try await service.call("object.putMany", Self.params("\(Self.known),\(other)"))
            let file = folder + "/copy." + format
            let export = try await run(
                ["export", "--bucket", "b1", "--format", format, "--with-metadata"])
            #expect(export.status == 0 && export.errors == "", "\(export)")
            try export.output.write(toFile: file, atomically: true, encoding: .utf8)
            let load = try await run(["load", file, "--bucket", "b2", "--with-metadata"])
            #expect(load.status == 0 && !load.errors.contains("left out"), "\(load)")
            for (id, text) in [("o1", Self.known), ("o2", other)] {
                let copy = try JSONValue(parsing: try await service.getText(id, in: "b2"))
                let known = try JSONValue(parsing: text)
                for name in [
                    "_created", "_modified", "_version", "_owner", "_dataType", "_expiresAt", "n",
                ] {
                    #expect(copy[name] == known[name], "\(format) \(id) \(name)")
                }
            }
        }
    }

    @Test func `Without it one line tells what is left out`() async throws {
        try await Program.withService { service, folder, run in
            try await service.call("object.putMany", Self.params(Self.known + #",{"_id":"o2"}"#))
            let file = folder + "/all.ndjson"
            let all = try await run(["export", "--bucket", "b1", "--with-metadata"])
            try all.output.write(toFile: file, atomically: true, encoding: .utf8)
            let left =
                "left out of 2 objects: _created, _modified, _version, _owner, _dataType, _expiresAt; --with-metadata keeps them"
            let export = try await run(["export", "--bucket", "b1"])
            #expect(export.output == "{\"_id\":\"o1\",\"n\":1}\n{\"_id\":\"o2\"}\n", "\(export)")
            #expect(export.errors == left + "\n")
            let load = try await run(["load", file, "--bucket", "b2"])
            #expect(load.status == 0 && load.errors.contains(left), "\(load)")
            #expect(try await service.get("o1", in: "b2")["_version"]?.int == 1)
            try export.output.write(toFile: file, atomically: true, encoding: .utf8)
            let plain = try await run(["load", file, "--bucket", "b3"])
            #expect(!plain.errors.contains("left out"), "\(plain)")
        }
    }
}
