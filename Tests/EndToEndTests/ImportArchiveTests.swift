import Foundation
import TestSupport
import Testing

/// `geobucket import-archive` on archives that others wrote.
@Suite struct ImportArchiveTests {
    /// Any Python 3 writes property lists; the one of the foreign client has bpylist2 too.
    private static let python: String? =
        ForeignClientTests.python
        ?? ["/usr/bin/python3", "/usr/local/bin/python3"].first {
            FileManager.default.isExecutableFile(atPath: $0)
        }

    private static func with(
        _ body: @escaping @Sendable (TestService, _ folder: String) async throws -> Void
    ) async throws {
        let python = try #require(python)
        try await withTemporaryFolder { folder in
            let script = Program.packageRoot + "/Tests/EndToEndTests/make_archives.py"
            let process = try ChildProcess.start(python, [script, folder], folder: folder)
            #expect(await process.end() == 0, "\(process.standardError)")
            try await TestService.with { try await body($0, folder) }
        }
    }

    private static func run(
        _ service: TestService, _ folder: String, _ arguments: [String]
    ) async throws -> (status: Int32, output: String, errors: String) {
        try await Program.run(
            ["import-archive"] + arguments + ["--server", "127.0.0.1:\(service.port)"],
            folder: folder)
    }

    private static func userText(_ object: JSONValue) -> String {
        JSONValue.object(object.members.filter { !$0.name.hasPrefix("_") }).text
    }

    @Test(
        .enabled(if: python != nil, "no python3 to write archives with"),
        arguments: ["bin", "xml"])
    func `An archive that plistlib wrote is imported exactly`(_ form: String) async throws {
        try await Self.with { service, folder in
            let run = try await Self.run(
                service, folder,
                [
                    "\(folder)/plist-shops.\(form)", "--bucket", "shops", "--id", "number",
                    "--geopoint", "lat,lon=location", "--map", "MYShop=kind",
                ])
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.output.contains("loaded 2 objects"), "\(run.output)")
            #expect(
                Self.userText(try await service.get("100", in: "shops"))
                    == #"{"kind":"MYShop","number":100,"open":true,"rating":4.5,"huge":9223372036854775808,"negative":-1099511627776,"name":"Kiosk 🍣","nothing":null,"opened":1467331200500,"photo":"AP8Q","key":"12345678-9ABC-DEF0-FEDC-BA9876543210","site":"https://example.org/a","tags":["x","y"],"address":{"city":"東京 & \"more\" <b>"},"location":{"_type":"point","lat":35.6586,"lon":139.7454}}"#
            )
            let second = try await service.get("101", in: "shops")
            #expect(second["open"] == .bool(false) && second["name"] == .string(""))
            #expect(
                second["location"] == .point(-33.86, 151.21)
                    && second["huge"]?.text == "9223372036854775809")
        }
    }

    @Test(
        .enabled(if: python != nil, "no python3 to write archives with"),
        arguments: [
            (["--depth", "1"], 1, "is nested deeper than 1 levels"),
            (["--object-values", "3"], 1, "has more than 3 values when written out"),
            (["--values", "20"], 1, "takes more values than are allowed"),
            (["--file-bytes", "100"], 1, "has more than 100 bytes"),
            (["--depth", "901"], 2, "--depth has to be 1 to 900, not 901"),
        ])
    func `What a file may cost is set by flags`(
        _ flags: [String], _ status: Int32, _ message: String
    ) async throws {
        try await Self.with { service, folder in
            let run = try await Self.run(
                service, folder, ["\(folder)/plist-shops.bin", "--bucket", "shops"] + flags)
            #expect(run.status == status && run.errors.contains(message), "\(run.errors)")
        }
    }

    @Test(.enabled(if: python != nil, "no python3 to write archives with"))
    func `Named keys are asked for by name`() async throws {
        try await Self.with { service, folder in
            let file = "\(folder)/plist-keys.bin"
            let vague = try await Self.run(service, folder, [file, "--bucket", "some"])
            #expect(vague.status == 1)
            #expect(vague.errors.contains(#""count", "one", "two""#), "\(vague.errors)")
            let run = try await Self.run(
                service, folder, [file, "--bucket", "some", "--key", "one", "--key", "two"])
            #expect(run.status == 0, "\(run.errors)")
            #expect(try await service.count(#"{"type":"all"}"#, in: "some") == 2)
            for onError in ["stop", "skip"] {
                let number = try await Self.run(
                    service, folder,
                    [file, "--bucket", "some", "--key", "count", "--on-error", onError])
                #expect(number.status == (onError == "stop" ? 1 : 0))
                #expect(
                    number.errors.contains("object 1: count: is no object but a number"),
                    "\(number.errors)")
            }
        }
    }

    @Test(.enabled(if: python != nil, "no python3 to write archives with"))
    func `One bad element is skipped, names with underscores and bare values have flags`()
        async throws
    {
        try await Self.with { service, folder in
            let file = ["\(folder)/plist-odd.bin", "--bucket", "odd"]
            let stopped = try await Self.run(service, folder, file)
            #expect(stopped.status == 1)
            #expect(
                stopped.errors.contains(
                    "object 1: _name: \"_name\": names that begin with '_' are the service's own; "
                        + "--strip-underscores takes the underscores off"), "\(stopped.errors)")
            let skipped = try await Self.run(
                service, folder, file + ["--strip-underscores", "--on-error", "skip"])
            #expect(skipped.status == 0 && skipped.output.contains("loaded 1 object"))
            #expect(skipped.output.contains("2 errors"), "\(skipped.output)")
            #expect(skipped.errors.contains("object 2: root[1].part: refers to object 99"))
            #expect(
                skipped.errors.contains(
                    "object 3: root[2]: is no object but a string; --value FIELD"))
            let valued = try await Self.run(
                service, folder,
                file + ["--strip-underscores", "--on-error", "skip", "--value", "name"])
            #expect(valued.output.contains("loaded 2 objects"), "\(valued.output)")
            let found = try await service.query(in: "odd")["results"]?.array ?? []
            #expect(
                found.map(Self.userText)
                    == [#"{"name":"Kiosk"}"#, #"{"name":"Kiosk"}"#, #"{"name":"bare"}"#])
        }
    }

    @Test(
        .enabled(if: python != nil, "no python3 to write archives with"),
        arguments: ["bin", "xml"])
    func `References back are refused, and left out and counted with a flag`(
        _ form: String
    ) async throws {
        try await Self.with { service, folder in
            let file = ["\(folder)/plist-delegates.\(form)", "--bucket", "lists"]
            let refused = try await Self.run(service, folder, file)
            #expect(refused.status == 1)
            #expect(
                refused.errors.contains(
                    "root.items[0].delegate: refers back to root; "
                        + "--cut-references leaves such members out"), "\(refused.errors)")
            let run = try await Self.run(service, folder, file + ["--cut-references"])
            #expect(run.status == 0, "\(run.errors)")
            #expect(
                run.output.contains("loaded 1 object")
                    && run.output.hasSuffix(" 0 errors, 2 references back left out\n"),
                "\(run.output)")
            let found = try await service.query(in: "lists")["results"]?.array ?? []
            #expect(
                found.map(Self.userText)
                    == [#"{"name":"all","items":[{"name":"one"},{"name":"two"}]}"#])
        }
    }

    @Test(
        .enabled(
            if: ForeignClientTests.python != nil,
            "no Python with bpylist2: scripts/test.sh makes one"))
    func `An archive that bpylist2 wrote is imported exactly`() async throws {
        try await Self.with { service, folder in
            let file = "\(folder)/bpylist-shops.bin"
            try #require(FileManager.default.fileExists(atPath: file), "bpylist2 is not installed")
            let run = try await Self.run(service, folder, [file, "--bucket", "shops"])
            #expect(run.status == 0, "\(run.errors)")
            let objects = try await service.query(in: "shops")["results"]?.array ?? []
            #expect(
                objects.map(Self.userText) == [
                    #"{"name":"Kiosk","n":3,"open":true,"closed":false,"rate":0.25,"tags":["a","b"],"opened":1467374400500,"deep":{"x":{"y":[1,{"z":"ü"}]}},"data":"AP8Q","big":1099511627776,"minus":-7}"#,
                    #"{"name":"","n":0,"set":["only"]}"#,
                ])
        }
    }

    @Test func `What is no archive is refused with a sentence, wrong usage with 2`() async throws {
        try await withTemporaryFolder { folder in
            try Data("hello".utf8).write(to: URL(fileURLWithPath: folder + "/x.plist"))
            try await TestService.with { service in
                let run = try await Self.run(
                    service, folder, [folder + "/x.plist", "--bucket", "shops"])
                #expect(run.status == 1 && run.errors.contains("property list"), "\(run.errors)")
                for wrong in [
                    ["--geopoint", "lat=x"], ["--map", "MYShop"], ["--geopoint", "a,b,c=x"],
                    ["--on-error", "never"],
                ] {
                    let run = try await Self.run(
                        service, folder, [folder + "/x.plist", "--bucket", "shops"] + wrong)
                    #expect(run.status == 2, "\(wrong): \(run.errors)")
                }
            }
        }
    }
}
