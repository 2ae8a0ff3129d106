import Foundation
import GeoBucketClient
import TestSupport
import Testing

/// The commands for objects by id and for buckets.
@Suite struct ObjectCommandTests {
    @Test func `An object is put, patched, got and deleted`() async throws {
        try await Program.withService { _, folder, run in
            let file = folder + "/tower.json"
            try #"{ "name": "Tower", "n": 1e2 }"#.write(
                toFile: file, atomically: true, encoding: .utf8)
            let put = try await run(["put", "shops", "tower", file, "--if-absent"])
            #expect(put.status == 0 && put.output.contains(#""_version":1"#), "\(put)")
            let again = try await run(["put", "shops", "tower", file, "--if-absent"])
            #expect(again.status == 1 && again.errors.contains("tower"), "\(again)")
            try #"{"open":false}"#.write(toFile: file, atomically: true, encoding: .utf8)
            let stale = try await run(["patch", "shops", "tower", file, "--if-version", "7"])
            #expect(stale.status == 1, "\(stale)")
            let patch = try await run(
                ["patch", "shops", "tower", file, "--if-version", "1", "--expires", "2h"])
            #expect(patch.status == 0 && patch.output.contains(#""_version":2"#), "\(patch)")
            let get = try await run(["get", "shops", "tower"])
            #expect(
                get.output.hasSuffix("\"name\":\"Tower\",\"n\":1e2,\"open\":false}\n")
                    && get.output.contains("_expiresAt"), "\(get)")
            let some = try await run(["get", "shops", "gone", "tower", "lost"])
            #expect(some.status == 1 && some.output == get.output)
            #expect(some.errors.contains("2 of 3 objects are not there: gone, lost"), "\(some)")
            let delete = try await run(["delete", "shops", "tower", "--if-version", "2"])
            #expect(delete.status == 0 && delete.errors.contains("1 object deleted"), "\(delete)")
            #expect(try await run(["get", "shops", "tower"]).status == 1)
        }
    }

    @Test func `What is no JSON, no length of time or no bucket is refused`() async throws {
        try await Program.withService { _, folder, run in
            let file = folder + "/broken.json"
            try "{".write(toFile: file, atomically: true, encoding: .utf8)
            let broken = try await run(["put", "shops", "tower", file])
            #expect(broken.status == 1 && broken.errors.contains("broken.json is not JSON"))
            for arguments in [
                ["put", "shops", "tower", file, "--expires", "2y"], ["get", "a/b/c/d", "tower"],
                ["put", "shops", "tower", file, "--if-absent", "--if-version", "1"],
                ["delete", "shops", "aa", "bb", "--if-version", "1"], ["get", "shops"],
            ] {
                #expect(try await run(arguments).status == 2, "\(arguments)")
            }
        }
    }

    @Test func `Buckets are listed, and dropped only by somebody who says so`() async throws {
        try await Program.withService { _, folder, run in
            let file = folder + "/object.json"
            try #"{"at":{"_type":"point","lat":1,"lon":2}}"#.write(
                toFile: file, atomically: true, encoding: .utf8)
            for id in ["o1", "o2"] { _ = try await run(["put", "shops", id, file]) }
            let list = try await run(["buckets", "--format", "csv"])
            #expect(list.output == "bucket,objects,place\r\nshops,2,at\r\n", "\(list)")
            let none = try await run(["export", "--bucket", "nothing", "--format", "csv"])
            #expect(none.status == 1 && none.output.isEmpty, "\(none)")
            #expect(none.errors.contains("there is no bucket nothing"), "\(none)")
            let unsure = try await run(["drop", "shops"])
            #expect(unsure.status == 2 && unsure.errors.contains("with its 2 objects"), "\(unsure)")
            let drop = try await run(["drop", "shops", "--yes"])
            #expect(drop.status == 0 && drop.errors.contains("with 2 objects"), "\(drop)")
            #expect(try await run(["buckets", "--format", "ndjson"]).output.isEmpty)
            #expect(try await run(["drop", "shops", "--yes"]).status == 1)
        }
    }
}
