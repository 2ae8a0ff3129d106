import Foundation
import JSONText
import TestSupport
import Testing

/// `geobucket load` of files as people have them: the cases that came with the project, and every
/// command of the manual that shows the file and the objects it has to become.
@Suite struct ImportTests {
    private static func write(_ text: String, _ path: String) throws {
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    // MARK: Comparison

    /// The objects of a bucket without the fields that the service makes.
    private static func objects(
        _ service: TestService, _ bucket: String, keepsIDs: Bool
    ) async throws -> [JSONValue] {
        let answer = try await service.call("bucket.export", #"{"bucket":"\#(bucket)"}"#)
        return (answer["objects"]?.array ?? []).map { object in
            .object(
                object.members.filter {
                    !$0.name.hasPrefix("_") || $0.name == "_id" && keepsIDs
                })
        }
    }

    /// Whether two values are the same by value, numbers within a millionth.
    private static func isSame(_ a: JSONValue, _ b: JSONValue) -> Bool {
        if case .object(let members) = a, case .object(let others) = b {
            return members.count == others.count
                && members.allSatisfy { member in
                    b[member.name].map { isSame(member.value, $0) } ?? false
                }
        }
        if let list = a.array, let other = b.array {
            return list.count == other.count && zip(list, other).allSatisfy(isSame)
        }
        if let number = a.double, let other = b.double {
            return a == b || abs(number - other) < 1e-6 && number != number.rounded()
                || number == other || abs(number - other) < 1e-6
        }
        return a == b
    }

    private static func check(
        _ found: [JSONValue], _ expected: [JSONValue], _ what: String
    ) {
        var rest = found
        #expect(found.count == expected.count, "\(what): \(found.map(\.text))")
        for object in expected {
            let index = rest.firstIndex { isSame($0, object) }
            #expect(index != nil, "\(what): \(object.text) is not in \(found.map(\.text))")
            if let index { rest.remove(at: index) }
        }
    }

    // MARK: Cases

    private static let cases = Checkout.root.appending(path: "../shared/cases/import").standardized
    private static let hasCases = FileManager.default.fileExists(
        atPath: cases.appending(path: "expected.json").path(percentEncoded: false))

    @Test(.enabled(if: hasCases, "the cases are not in ../shared/cases/import"))
    func `Every file of the cases becomes what it must`() async throws {
        let text = try Data(contentsOf: Self.cases.appending(path: "expected.json"))
        let cases = try #require(try JSONValue(parsing: Array(text)).array)
        #expect(cases.count > 20)
        try await Program.withService { service, _, run in
            for (number, one) in cases.enumerated() {
                let name = one["name"]?.string ?? ""
                let file = Self.cases.appending(path: one["file"]?.string ?? "")
                let flags = (one["flags"]?.array ?? []).compactMap(\.string)
                let bucket = "case\(number)"
                let load = try await run(
                    ["load", file.path(percentEncoded: false), "--bucket", bucket] + flags)
                guard let word = one["refused"]?.string else {
                    #expect(load.status == 0, "\(name): \(load.errors)")
                    let expected = one["objects"]?.array ?? []
                    let keepsIDs = expected.contains { $0["_id"] != nil }
                    let found = try await Self.objects(service, bucket, keepsIDs: keepsIDs)
                    Self.check(found, expected, name)
                    continue
                }
                #expect(load.status != 0 && load.errors.contains(word), "\(name): \(load.errors)")
                let found = try await service.call(
                    "bucket.count", #"{"bucket":"\#(bucket)"}"#)["count"]?.int
                #expect(found == 0, "\(name)")
            }
        }
    }

    // MARK: The manual

    /// A block of code of the manual.
    private struct Block {
        let language: String
        let name: String
        let text: String
    }

    private static func blocks() throws -> [Block] {
        let manual = try String(
            contentsOf: Checkout.root.appending(path: "docs/import.md"), encoding: .utf8)
        return manual.matches(of: /(?m)^```(\w+) ?([^\n]*)\n((?s).*?)^```$/).map {
            Block(
                language: String($0.output.1), name: String($0.output.2),
                text: String($0.output.3))
        }
    }

    @Test func `Every file that the manual shows is loaded by its command as it says`() async throws
    {
        let blocks = try Self.blocks()
        try await Program.withService { service, folder, run in
            var commands = 0
            for (index, block) in blocks.enumerated() {
                if !block.name.isEmpty { try Self.write(block.text, folder + "/" + block.name) }
                guard block.language == "sh" else { continue }
                commands += 1
                var words = block.text.split(whereSeparator: \.isWhitespace).map(String.init)
                #expect(words.removeFirst() == "geobucket")
                let bucket = words[words.firstIndex(of: "--bucket")! + 1]
                words[1] = folder + "/" + words[1]
                let load = try await run(words)
                #expect(load.status == 0, "\(block.text): \(load.errors)")
                let expected = try blocks[index + 1].text.split(separator: "\n").map {
                    try JSONValue(parsing: String($0))
                }
                let keepsIDs = expected.contains { $0["_id"] != nil }
                let found = try await Self.objects(service, bucket, keepsIDs: keepsIDs)
                Self.check(found, expected, block.text)
            }
            #expect(commands > 10)
        }
    }

    // MARK: The command

    @Test func `A flag that the format does not use is refused with the formats that take it`()
        async throws
    {
        try await Program.withService { _, folder, run in
            let file = folder + "/a.ndjson"
            try Self.write(#"{"a":1}"#, file)
            for flag in [
                ["--separator", ";"], ["--decimal", ","], ["--no-header"], ["--text", "a"],
                ["--nest"], ["--empty", "null"], ["--cycles", "cut"], ["--records", "a"],
            ] {
                let load = try await run(["load", file, "--bucket", "b1"] + flag)
                #expect(
                    load.status == 2 && load.errors.contains(flag[0]), "\(flag): \(load.errors)")
            }
            for flag in [
                ["--id", "b"], ["--without", "b"], ["--latitude", "b", "--longitude", "a"],
            ] {
                let load = try await run(["load", file, "--bucket", "b1"] + flag)
                #expect(load.status == 2 && load.errors.contains("\"b\""), "\(load.errors)")
            }
        }
    }

    @Test func `GeoPoints are places already`() async throws {
        try await withTemporaryFolder { folder in
            let file = folder + "/points.ndjson"
            try Self.write(#"{"n":1,"at":{"_type":"point","lat":1,"lon":2}}"#, file)
            let inspection = try await Program.run(["inspect", file], folder: folder)
            #expect(
                inspection.output.contains("place: at, GeoPoints already\n"),
                "\(inspection.output)")
        }
    }

    @Test func `What inspect prints as flags loads the same objects, from a file of flags too`()
        async throws
    {
        try await Program.withService { service, folder, run in
            let file = folder + "/bars.csv"
            try Self.write("nom;lat;lon;prix\nCafé;48,5;2,25;3,50\nBar;48,75;2,5;\n", file)
            let inspection = try await Program.run(["inspect", file, "--flags"], folder: folder)
            #expect(inspection.status == 0, "\(inspection.errors)")
            try Self.write(inspection.output, folder + "/flags")
            for (bucket, flags) in [
                ("b1", []), ("b2", ["--mapping", folder + "/flags"]),
            ] {
                let load = try await run(["load", file, "--bucket", bucket] + flags)
                #expect(load.status == 0, "\(load.errors)")
            }
            let first = try await Self.objects(service, "b1", keepsIDs: false)
            Self.check(try await Self.objects(service, "b2", keepsIDs: false), first, "flags")
            #expect(first.count == 2 && first[0]["location"] == .point(48.5, 2.25))
        }
    }

    @Test func `Inspect shows format, fields, place, first objects and the command`() async throws {
        try await withTemporaryFolder { folder in
            let file = folder + "/shops.csv"
            try Self.write("id,name,lat,lon\naa,Kiosk,1.5,2.5\n", file)
            let run = try await Program.run(["inspect", file], folder: folder)
            #expect(run.status == 0, "\(run.errors)")
            for part in [
                "csv, separator ,", "place: location, from lat and lon", "name: text",
                #"{"id":"aa","name":"Kiosk","location":{"_type":"point","lat":1.5,"lon":2.5}}"#,
                "geobucket load", "--place location=lat,lon",
            ] {
                #expect(run.output.contains(part), "\(part): \(run.output)")
            }
        }
    }

    @Test func `What is skipped is kept with its reason, and loads when it is mended`() async throws
    {
        try await Program.withService { service, folder, run in
            let (file, rejects) = (folder + "/a.csv", folder + "/rejects.csv")
            try Self.write("id,lat,lon\naa,1.5,2.5\nbb,95,2.5\ncc,1.5,100\n", file)
            let flags = ["--bucket", "b1", "--id", "id", "--on-error", "skip"]
            let load = try await run(["load", file, "--rejects", rejects] + flags)
            #expect(load.status == 0 && load.output.contains("loaded 2 objects"), "\(load.errors)")
            let kept = try String(contentsOfFile: rejects, encoding: .utf8)
            #expect(
                kept.hasPrefix("id,lat,lon\n# line 3: lat") && kept.hasSuffix("\nbb,95,2.5\n"),
                "\(kept)")
            try Self.write(kept.replacing("95,", with: "9.5,"), rejects)
            let again = try await run(["load", rejects] + flags)
            #expect(again.status == 0, "\(again.errors)")
            #expect(try await service.get("bb")["location"] == .point(9.5, 2.5))
        }
    }

    @Test func `A load that stores nothing of what it skips ends with status 1`() async throws {
        try await Program.withService { _, folder, run in
            let file = folder + "/a.ndjson"
            try Self.write("hello\nworld\n", file)
            let load = try await run(["load", file, "--bucket", "b1", "--on-error", "skip"])
            #expect(load.status == 1 && load.errors.contains("not one record"), "\(load.errors)")
        }
    }

    @Test func `A dry run writes nothing, and --from passes over what was loaded before`()
        async throws
    {
        try await Program.withService { service, folder, run in
            let file = folder + "/a.ndjson"
            try Self.write((1...5).map { "{\"n\":\($0)}" }.joined(separator: "\n"), file)
            let dry = try await run(["load", file, "--bucket", "b1", "--dry-run"])
            #expect(dry.status == 0 && dry.output.hasPrefix("ndjson, 5 records"), "\(dry.output)")
            #expect(try await Self.objects(service, "b1", keepsIDs: false).isEmpty)
            let load = try await run(["load", file, "--bucket", "b1", "--from", "4"])
            #expect(load.status == 0, "\(load.errors)")
            let found = try await Self.objects(service, "b1", keepsIDs: false).map(\.text)
            #expect(found == [#"{"n":4}"#, #"{"n":5}"#])
        }
    }

    @Test func `A bucket of another service is a source`() async throws {
        try await TestService.with { source in
            try await source.store((10...1_500).map { ("id\($0)", "\"n\":\($0)") }, in: "old")
            try await Program.withService { service, _, run in
                let address = "geobucket://127.0.0.1:\(source.port)/old"
                let load = try await run(["load", address, "--bucket", "new"])
                #expect(load.status == 0, "\(load.errors)")
                #expect(load.output.hasPrefix("loaded 1491 objects"), "\(load.output)")
                #expect(try await service.get("id77", in: "new")["n"]?.int == 77)
            }
        }
    }

    @Test func `Standard input may be a file, which is read from where it stands`() async throws {
        try await withTemporaryFolder { folder in
            let file = folder + "/a.txt"
            try Self.write("first line\n{\"results\":[{\"a\":1},{\"a\":2}]}\n", file)
            let shell = try ChildProcess.start(
                "/bin/sh", ["-c", "(read line; exec '\(Program.path)' inspect -) < '\(file)'"],
                folder: folder)
            #expect(await shell.end() == 0, "\(shell.standardError)")
            let output = shell.standardOutput
            #expect(output.hasPrefix("json, records results, 2 records"), "\(output)")
        }
    }

    @Test func `An interrupted load says how far it came`() async throws {
        try await withTemporaryFolder { folder in
            try await TestService.with { service in
                let file = folder + "/pipe.ndjson"
                #expect(mkfifo(file, 0o600) == 0)
                let pipe = FileHandle(fileDescriptor: open(file, O_RDWR | O_CLOEXEC))
                let load = try ChildProcess.start(
                    Program.path,
                    ["load", file, "--bucket", "b1", "--server", "127.0.0.1:\(service.port)"],
                    folder: folder)
                try pipe.write(contentsOf: Data("{\"n\":1}\n{\"n\":2}\n".utf8))
                var count: Int?
                for _ in 0..<4_000 where count != 2 {
                    try await Task.sleep(for: .milliseconds(5))
                    count = try await service.call("bucket.count", #"{"bucket":"b1"}"#)["count"]?
                        .int
                }
                load.signal(SIGINT)
                try pipe.write(contentsOf: Data("{\"n\":3}\n".utf8))
                try pipe.close()
                #expect(await load.end() == 1)
                #expect(load.standardError.contains("--from"), "\(load.standardError)")
            }
        }
    }
}
