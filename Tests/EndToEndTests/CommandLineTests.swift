import Foundation
import GRDB
import GeoBucketClient
import Objects
import TestSupport
import Testing

/// The commands as a shell sees them: files in, text out, exit status.
@Suite struct CommandLineTests {
    private static func write(_ text: String, _ path: String) throws {
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    private static let twentyWithBroken17 = (1...20).map {
        $0 == 17 ? #"{"_id":"id17","n":}"# : #"{"_id":"id\#($0)","n":\#($0)}"#
    }.joined(separator: "\n")

    @Test func `A broken line 17 is named and ends the load, the lines before it are stored`()
        async throws
    {
        try await Program.withService { service, folder, run in
            let file = folder + "/data.ndjson"
            try Self.write(Self.twentyWithBroken17, file)
            let load = try await run(["load", file, "--bucket", "rows"])
            #expect(load.status == 1)
            #expect(load.errors.contains("line 17"))
            #expect(load.output.hasPrefix("loaded 16 objects"))
            let count = try await service.call("bucket.count", #"{"bucket":"rows"}"#)
            #expect(count["count"]?.int == 16)
        }
    }

    @Test(arguments: ["stop", "skip"])
    func `A file that breaks off is named, and what was read of it is stored`(_ onError: String)
        async throws
    {
        try await Program.withService { service, folder, run in
            let file = folder + "/data.geojson"
            try Self.write(
                #"{"type":"FeatureCollection","features":[{"type":"Feature","id":"id1","geometry":null,"properties":{}},"#,
                file)
            let load = try await run(["load", file, "--bucket", "rows", "--on-error", onError])
            #expect(load.status == 1)
            #expect(load.errors.contains("data.geojson: the FeatureCollection is truncated"))
            #expect(load.output.hasPrefix("loaded 1 object"))
            let count = try await service.call("bucket.count", #"{"bucket":"rows"}"#)
            #expect(count["count"]?.int == 1)
        }
    }

    @Test func `A load that the service refuses tells which lines, and how many are stored`()
        async throws
    {
        var limits = Limits()
        limits.queuedWrites = 0
        try await withTemporaryFolder { folder in
            try await TestService.with(limits: limits) { service in
                let file = folder + "/data.ndjson"
                try Self.write((1...1_500).map { "{\"n\":\($0)}" }.joined(separator: "\n"), file)
                let load = try await Program.run(
                    ["load", file, "--bucket", "rows", "--server", "127.0.0.1:\(service.port)"],
                    folder: folder)
                #expect(load.status == 1)
                #expect(
                    load.errors.contains("data.ndjson: lines 1-1000, 1001-1500: TOO_MANY_REQUESTS"),
                    "\(load.errors)")
                #expect(load.errors.contains("nothing after line 1500 was sent"))
                #expect(load.output.hasPrefix("loaded 0 objects"))
                #expect(load.output.hasSuffix("2 errors\n"))
            }
        }
    }

    @Test func `A bad feature of a collection is named by its number, not by a line`() async throws
    {
        try await Program.withService { _, folder, run in
            let file = folder + "/data.geojson"
            let features = [1, 95].map {
                #"{"type":"Feature","geometry":{"type":"Point","coordinates":[1,\#($0)]},"properties":{}}"#
            }
            try Self.write(
                #"{"type":"FeatureCollection","features":["# + "\n\n\n"
                    + features.joined(separator: ",\n") + "]}", file)
            let load = try await run(["load", file, "--bucket", "rows"])
            #expect(load.errors.contains("feature 2: geometry.coordinates"), "\(load.errors)")
        }
    }

    @Test func `With --on-error skip only the broken line is missing`() async throws {
        try await Program.withService { service, folder, run in
            let file = folder + "/data.ndjson"
            try Self.write(Self.twentyWithBroken17, file)
            let load = try await run(["load", file, "--bucket", "rows", "--on-error", "skip"])
            #expect(load.status == 0)
            #expect(load.errors.contains("line 17"))
            #expect(load.output.contains("loaded 19 objects") && load.output.contains("1 error"))
            let count = try await service.call("bucket.count", #"{"bucket":"rows"}"#)
            #expect(count["count"]?.int == 19)
        }
    }

    @Test func `What comes through a pipe is stored while the pipe stays open`() async throws {
        try await Program.withService { service, folder, run in
            let file = folder + "/data.ndjson"
            #expect(mkfifo(file, 0o600) == 0)
            let pipe = FileHandle(fileDescriptor: open(file, O_RDWR | O_CLOEXEC))
            async let load = run(["load", file, "--bucket", "rows"])
            try pipe.write(contentsOf: Data("{\"n\":1}\n{\"n\":2}\n".utf8))
            var count: Int?
            for _ in 0..<4_000 where count != 2 {
                try await Task.sleep(for: .milliseconds(5))
                count = try await service.call("bucket.count", #"{"bucket":"rows"}"#)["count"]?.int
            }
            #expect(count == 2)
            try pipe.close()
            let (status, output, errors) = try await load
            #expect(status == 0 && output.hasPrefix("loaded 2 objects"), "\(output) \(errors)")
        }
    }

    @Test func `Of two lines with one id the later is refused, and through a pipe it counts`()
        async throws
    {
        try await Program.withService { service, folder, run in
            let file = folder + "/data.ndjson"
            try Self.write("{\"_id\":\"aa\",\"n\":1}\n{\"_id\":\"aa\",\"n\":2}\n", file)
            let load = try await run(["load", file, "--bucket", "rows"])
            #expect(load.status == 1 && load.errors.contains("line 2: _id: "), "\(load.errors)")
            #expect(try await service.get("aa", in: "rows")["n"]?.int == 1)
            let place = folder + "/pipe.ndjson"
            #expect(mkfifo(place, 0o600) == 0)
            let pipe = FileHandle(fileDescriptor: open(place, O_RDWR | O_CLOEXEC))
            async let changes = run(["load", place, "--bucket", "rows"])
            try pipe.write(contentsOf: Data(contentsOf: URL(filePath: file)))
            var number: Int?
            for _ in 0..<4_000 where number != 2 {
                try await Task.sleep(for: .milliseconds(5))
                number = try await service.get("aa", in: "rows")["n"]?.int
            }
            #expect(number == 2)
            try pipe.close()
            let (status, _, errors) = try await changes
            #expect(status == 0, "\(errors)")
        }
    }

    @Test(arguments: ["ndjson", "geojson", "csv"])
    func `An exported bucket loads back the same`(_ format: String) async throws {
        try await Program.withService { service, folder, run in
            let file = folder + "/data.ndjson"
            let rows = (1...500).map {
                #"{"_id":"id\#($0)","n":\#($0),"name":"é\#($0), \"q\"","location":{"_type":"point","lat":\#(Double($0) / 10),"lon":-1.5}}"#
            }
            try Self.write(rows.joined(separator: "\n"), file)
            #expect(try await run(["load", file, "--bucket", "first"]).status == 0)
            let export = try await run(["export", "--bucket", "first", "--format", format])
            #expect(export.status == 0)
            let copy = folder + "/copy." + format
            try Self.write(export.output, copy)
            let load = try await run(["load", copy, "--bucket", "second"])
            #expect(load.status == 0, "\(load.errors)")
            let fields = #""fields":["n","name","location"]"#
            let first = try await service.call("bucket.query", #"{"bucket":"first",\#(fields)}"#)
            let second = try await service.call("bucket.query", #"{"bucket":"second",\#(fields)}"#)
            let pairs = zip(first["results"]?.array ?? [], second["results"]?.array ?? [])
            #expect(first["results"]?.array?.count == 200)
            for (a, b) in pairs {
                for name in ["_id", "n", "name", "location"] { #expect(a[name] == b[name]) }
            }
        }
    }

    @Test func `An export is one state, whatever is written meanwhile`() async throws {
        try await TestService.with { service in
            let objects = (1...3_000).map {
                #"{"_id":"id\#($0)","n":0,"text":"\#(String(repeating: "x", count: 900))"}"#
            }
            for part in stride(from: 0, to: 3_000, by: 1_000) {
                let list = objects[part..<part + 1_000].joined(separator: ",")
                try await service.call("object.putMany", #"{"bucket":"rows","objects":[\#(list)]}"#)
            }
            var seen: [String] = []
            var piece = try await service.call("bucket.export", #"{"bucket":"rows"}"#)
            var pieces = 1
            // After the first piece everything changes, goes, or is new.
            try await service.call(
                "object.patch", #"{"bucket":"rows","id":"id2999","object":{"n":1}}"#)
            try await service.call("object.delete", #"{"bucket":"rows","id":"id3000"}"#)
            try await service.call(
                "object.put", #"{"bucket":"rows","id":"id9999","object":{"n":0}}"#)
            while true {
                for object in piece["objects"]?.array ?? [] {
                    seen.append(object["_id"]?.string ?? "")
                    #expect(object["n"]?.int == 0)
                }
                guard piece["more"]?.bool == true else { break }
                piece = try await service.call(
                    "bucket.export", #"{"bucket":"rows","continue":true}"#)
                pieces += 1
            }
            #expect(pieces > 2)
            #expect(seen == (1...3_000).map { "id\($0)" })
            let again = try await service.error(
                "bucket.export", #"{"bucket":"rows","continue":true}"#)
            #expect(again?.path == "continue")
        }
    }

    @Test func `An export that nobody continues is let go`() async throws {
        var limits = Limits()
        limits.exportIdleMilliseconds = 50
        limits.replyBytes = 2_000
        try await TestService.with(limits: limits) { service in
            let objects = (1...50).map {
                #"{"_id":"id\#($0)","text":"\#(String(repeating: "x", count: 200))"}"#
            }
            try await service.call(
                "object.putMany",
                #"{"bucket":"rows","objects":[\#(objects.joined(separator: ","))]}"#)
            for _ in 0..<20 {
                let piece = try await service.call("bucket.export", #"{"bucket":"rows"}"#)
                #expect(piece["more"]?.bool == true)
            }
            // Nothing is asked for, and some time later there is nothing to continue.
            var refusal: RemoteFailure?
            for _ in 0..<100 where refusal == nil {
                try await Task.sleep(for: .milliseconds(200))
                refusal = try await service.error(
                    "bucket.export", #"{"bucket":"rows","continue":true}"#)
                if refusal == nil { try await service.call("bucket.export", #"{"bucket":"rows"}"#) }
            }
            #expect(refusal?.path == "continue")
        }
    }

    @Test func `Wrong usage exits with 2, work that fails with 1, help with 0`() async throws {
        try await withTemporaryFolder { folder in
            for arguments in [
                ["frobnicate"], ["query"], ["query", "--bucket", "ab", "--within", "5km"],
                ["count", "--bucket", "ab", "--where", "a >"], ["serve", "--listen", "nowhere"],
                ["query", "--bucket", "ab", "--order-by", "name:up"],
                ["serve", "--line-bytes", "1"], ["call", "server.ping", "{"],
                ["query", "--bucket", "ab", "--group-by", "kind", "--order-by", "name"],
                ["query", "--bucket", "ab", "--max", "n", "--order-by", "name"],
                ["backup", folder + "/x", "--tls", "--store", folder + "/m.sqlite"],
                ["backup", folder + "/x", "--token-file", folder + "/f"],
                ["check", "--tls-ca", folder + "/f", "--store", folder + "/m.sqlite"],
            ] {
                let run = try await Program.run(arguments, folder: folder)
                #expect(run.status == 2, "\(arguments)")
                #expect(run.output.isEmpty && !run.errors.isEmpty, "\(arguments)")
            }
            for arguments in [
                ["count", "--bucket", "ab", "--server", "127.0.0.1:1"],
                ["check", "--store", folder + "/none.sqlite"],
            ] {
                let run = try await Program.run(arguments, folder: folder)
                #expect(run.status == 1 && !run.errors.isEmpty, "\(arguments)")
            }
            let help = try await Program.run(["query", "--help"], folder: folder)
            #expect(help.status == 0 && help.output.contains("--near"))
        }
    }

    @Test(
        arguments: [
            (#"{"lineBytez":1}"#, "lineBytez"), (#"{"lineBytes":"x"}"#, "lineBytes"),
            (#"{"listen":1}"#, "listen"), ("[]", "no JSON object"), ("{", "not JSON"),
            (
                "{\"lineBytes\":4096,\n\"listen\":\"x\",\n\"lineBytes\":8192}",
                #"line 3: "lineBytes" stands here again, as on line 1"#
            ),
            (
                "\n\n{\"listen\":\"x\",\n\"line\\u0042ytes\":1,\"listen\":\"x\"}",
                #"line 4: "listen" stands here again, as on line 3"#
            ),
            ("\n {\n\"lineBytes\":\"x\"}", #"line 3: "lineBytes" has to be a whole number"#),
            ("{\n\"listen\":}", "not JSON, line 2"),
        ])
    func `A configuration file that makes no sense is refused`(
        _ text: String, _ reason: String
    ) async throws {
        try await withTemporaryFolder { folder in
            try Self.write(text, folder + "/config.json")
            let run = try await Program.run(
                ["serve", "--config", folder + "/config.json", "--listen", "127.0.0.1:0"],
                folder: folder)
            #expect(run.status == 2 && run.errors.contains(reason), "\(run.errors)")
        }
    }

    @Test(arguments: [
        (["token", "create", "--principal", "a", "--days", "0"], "geobucket token create --help"),
        (["token", "create", "--principal", ""], "geobucket token create --help"),
        (["token", "create"], "geobucket token create --help"),
        (["query", "--bucket", "shops", "--within", "5km"], "geobucket query --help"),
        (["import-archive", "x.plist"], "geobucket import-archive --help"),
    ])
    func `Wrong usage points to the help of the command itself`(
        _ arguments: [String], _ help: String
    ) async throws {
        try await withTemporaryFolder { folder in
            let run = try await Program.run(arguments, folder: folder)
            #expect(run.status == 2 && run.errors.contains("See '\(help)'"), "\(run.errors)")
        }
    }

    @Test func `More groups than the service gives are wrong usage, and the flag is named`()
        async throws
    {
        try await Program.withService { _, _, run in
            let query = ["query", "--bucket", "rows", "--group-by", "kind", "--limit"]
            #expect(try await run(query + ["1000"]).status == 0)
            for flags in [[], ["--explain"]] {
                let refused = try await run(query + ["1001"] + flags)
                #expect(refused.status == 2, "\(refused.errors)")
                #expect(refused.errors.contains("--limit: "), "\(refused.errors)")
            }
        }
    }

    @Test(arguments: ["table", "json", "ndjson", "csv"])
    func `An explanation ends with a newline`(_ format: String) async throws {
        try await Program.withService { _, _, run in
            let plan = try await run(["query", "--bucket", "rows", "--explain", "--format", format])
            #expect(plan.status == 0 && plan.output.hasSuffix("\n"), "\(plan.output)")
            #expect(!plan.output.hasSuffix("\n\n"), "\(plan.output)")
        }
    }

    @Test func `GeoJSON of a query has the geometry that is there`() async throws {
        try await withTemporaryFolder { folder in
            try await TestService.with { service in
                try await service.call(
                    "object.put",
                    #"{"bucket":"b1","id":"o1","object":{"home":\#(point(1, 2)),"work":\#(point(3, 4))}}"#
                )
                func geometry(_ flags: [String]) async throws -> String {
                    let run = try await Program.run(
                        ["query", "--bucket", "b1", "--format", "geojson"] + flags
                            + ["--server", "127.0.0.1:\(service.port)"], folder: folder)
                    #expect(run.status == 0, "\(run.errors)")
                    return try JSONValue(parsing: run.output)["features"]?[0]?["geometry"]?.text
                        ?? ""
                }
                #expect(try await geometry([]).contains("[2.0,1.0]"))
                #expect(try await geometry(["--field", "work"]).contains("[4.0,3.0]"))
                #expect(try await geometry(["--field", "none"]) == "null")
                #expect(
                    try await geometry(["--near", "3,4", "--field", "work"]).contains("[4.0,3.0]"))
            }
        }
    }

    private static let line = #"{"type":"LineString","coordinates":[[0,0],[10,0]]}"#

    @Test func `A query along the line of a GeoJSON file is in the line's order`() async throws {
        try await Program.withService { service, folder, run in
            try await service.store(
                [("later", 0.5, 6.0), ("first", 0.001, 2), ("away", 5, 3)].map {
                    ($0.0, "\"location\":\(point($0.1, $0.2))")
                })
            let file = folder + "/line.geojson"
            let feature = #"{"type":"Feature","properties":{},"geometry":\#(Self.line)}"#
            let other = #"{"type":"Feature","geometry":null,"properties":null}"#
            for text in [
                Self.line, feature,
                #"{"type":"FeatureCollection","features":[\#(other),\#(feature)]}"#,
            ] {
                try Self.write(text, file)
                let query = ["query", "--bucket", "b1", "--along", file, "--width", "100km"]
                let table = try await run(query)
                #expect(table.status == 0, "\(table.errors)")
                let lines = table.output.split(separator: "\n").map(String.init)
                #expect(lines.count == 3 && lines[1].contains("first"), "\(table.output)")
                #expect(lines[0].contains("along") && lines[0].contains("distance"))
                #expect(
                    lines[1].contains("222.4 km") && lines[1].contains("111.2 m"), "\(lines[1])")
                let farthest = try await run(query + ["--order-by", "distance:desc"])
                #expect(farthest.output.split(separator: "\n")[1].contains("later"))
                let near = try await run(query + ["--near", "0,6"])
                #expect(near.output.split(separator: "\n")[1].contains("later"))
                let count = try await run(["count"] + query.dropFirst())
                #expect(count.output == "2\n")
            }
        }
    }

    @Test(arguments: [
        (#"{"type":"Point","coordinates":[1,2]}"#, "type"),
        (#"{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]}}"#, "geometry.type"),
        (#"{"type":"Feature"}"#, "no geometry"),
        (#"{"type":"FeatureCollection","features":[]}"#, "no geometry"),
        (
            #"{"type":"FeatureCollection","features":[{"geometry":\#(line)},{"geometry":\#(line)}]}"#,
            "found 2"
        ),
        (#"{"type":"LineString","coordinates":[[0,0],[180,0]]}"#, "coordinates[1]"),
        ("{", "--along"),
    ])
    func `A file without a line is refused with the place`(_ text: String, _ words: String)
        async throws
    {
        try await Program.withService { _, folder, run in
            let file = folder + "/line.geojson"
            try Self.write(text, file)
            let query = try await run(
                ["query", "--bucket", "b1", "--along", file, "--width", "1km"])
            #expect(query.status == 2 && query.errors.contains(words), "\(query.errors)")
            #expect(query.errors.contains("line.geojson"), "\(query.errors)")
        }
    }

    @Test(arguments: [
        (["--along", "x"], "--width"), (["--width", "1km"], "--along"),
        (["--along", "/nowhere/x", "--width", "1km"], "cannot be read"),
    ])
    func `A corridor without its line or width is refused`(_ flags: [String], _ words: String)
        async throws
    {
        try await Program.withService { _, _, run in
            let query = try await run(["query", "--bucket", "b1"] + flags)
            #expect(query.status == 2 && query.errors.contains(words), "\(query.errors)")
        }
    }

    private static func tamper(with store: String, _ statement: String) throws {
        let queue = try DatabaseQueue(path: store)
        try queue.write { try $0.execute(sql: statement) }
        try queue.close()
    }

    @Test func `Check tells a store that was tampered with`() async throws {
        try await withTemporaryFolder { folder in
            let store = folder + "/store.sqlite"
            _ = try await TestService.with(path: store) { service in
                // The second change, so that there is room for a row of another program's.
                for _ in 0..<2 {
                    try await service.call(
                        "object.put",
                        #"{"bucket":"rows","id":"aa","object":{"p":{"_type":"point","lat":1,"lon":2}}}"#
                    )
                }
            }
            let clean = try await Program.run(["check", "--store", store], folder: folder)
            #expect(clean.status == 0 && clean.output.contains("no problems"))
            for (statement, sentence) in [
                (
                    #"UPDATE object SET document = replace(document, '"lat":1', '"lat":3')"#,
                    "p 1.0,2.0"
                ),
                (
                    "INSERT INTO object SELECT creation + 1, bucket, id, change, version, created, "
                        + "modified, owner, data_type, points, document, checksum FROM object",
                    "its id aa leads to another slot"
                ),
                ("UPDATE object SET change = 99", "99"),
                ("DROP INDEX expiry_by_time", "expiry_by_time"),
                ("UPDATE bucket SET name = 'users'", "reserved"),
            ] {
                try Self.tamper(with: store, statement)
                let check = try await Program.run(["check", "--store", store], folder: folder)
                #expect(check.status == 1, "\(statement)")
                #expect(check.output.contains(sentence), "\(statement): \(check.output)")
            }
        }
    }
}
