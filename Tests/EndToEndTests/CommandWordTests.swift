import Foundation
import TestSupport
import Testing

/// The words of the command line: versions, help, and what is mistyped.
@Suite struct CommandWordTests {
    private static func run(_ arguments: String...) async throws -> (
        status: Int32, output: String, errors: String
    ) {
        try await withTemporaryFolder { try await Program.run(arguments, folder: $0) }
    }

    @Test(arguments: ["version", "--version", "-v"])
    func `Three words print the version`(_ word: String) async throws {
        let run = try await Self.run(word)
        #expect(run.status == 0 && run.output.hasPrefix("0."), "\(run)")
    }

    @Test func `A command that needs another one prints its help with status 2`() async throws {
        let alone = try await Self.run()
        #expect(alone.status == 2 && alone.errors.contains("import-archive") && alone.output == "")
        let token = try await Self.run("token")
        #expect(token.status == 2 && token.errors.contains("revoke") && token.output == "")
        let help = try await Self.run("--help")
        #expect(help.status == 0 && help.output.contains("import-archive") && help.errors == "")
    }

    @Test(arguments: [
        (["qurey", "--bucket", "b"], "`geobucket` has no command \"qurey\"", "`geobucket query`"),
        (["token", "crate"], "`geobucket token` has no command", "`geobucket token create`"),
        (["query", "--bukcet", "b"], "there is no flag --bukcet", "--bucket"),
        (["query", "--bucket", "b", "--limti=3"], "there is no flag --limti", "--limit"),
        (["serve", "--line-byte", "3"], "there is no flag --line-byte", "--line-bytes"),
    ])
    func `What is mistyped is named, with the nearest that there is`(
        _ words: [String], _ message: String, _ nearest: String
    ) async throws {
        let run = try await withTemporaryFolder { try await Program.run(words, folder: $0) }
        #expect(run.status == 2 && run.errors.contains(message), "\(run)")
        #expect(run.errors.contains("; the nearest is \(nearest)\n"), "\(run)")
    }

    @Test func `A flag that is missing is told as such, and a value is no flag`() async throws {
        let missing = try await Self.run("query", "--limit", "3")
        #expect(missing.status == 2 && missing.errors.contains("--bucket"), "\(missing)")
        let value = try await Self.run("query", "--bucket", "b", "--limit", "x")
        #expect(value.status == 2 && value.errors.contains("'x'"), "\(value)")
    }

    @Test func `serve --help is short, and --help-all has everything`() async throws {
        let usual = try await Self.run("serve", "--help").output
        let all = try await Self.run("serve", "--help-all").output
        func flags(_ help: String) -> Int { help.matches(of: /(?m)^ +(?:-\w, )?--[a-z]/).count }
        #expect((10...20).contains(flags(usual)), "\(usual)")
        #expect(flags(all) > 100)
        for flag in ["--listen", "--store", "--web", "--tokens", "--memory", "--config"] {
            #expect(usual.contains(flag + " "), "\(flag)")
        }
        #expect(usual.contains("--help-all") && !usual.contains("--line-bytes"))
        #expect(all.contains("--line-bytes <size>") && all.contains("--copies"))
    }

    private static func start(_ variable: String, _ folder: String) throws -> ChildProcess {
        try ChildProcess.start(
            "/usr/bin/env", [variable, Program.path, "check", "--store", folder + "/none"],
            folder: folder)
    }

    @Test(arguments: [
        ("GEOBUCKET_SEVER=x", "GEOBUCKET_SERVER"),
        ("GEOBUCKET_LINE_BYTE=9", "GEOBUCKET_LINE_BYTES"),
        ("GEOBUCKET_CONFG=x", "GEOBUCKET_CONFIG"), ("GEOBUCKET_PORTS=1", "GEOBUCKET_EXPORTS"),
    ])
    func `A variable that means nothing is refused, with the nearest that does`(
        _ variable: String, _ nearest: String
    ) async throws {
        try await withTemporaryFolder { folder in
            let process = try Self.start(variable, folder)
            #expect(await process.end() == 2)
            let name = variable.prefix { $0 != "=" }
            #expect(
                process.standardError.contains("the environment has \(name), which is no setting"))
            #expect(process.standardError.contains(nearest), "\(process.standardError)")
        }
    }

    @Test(arguments: [
        "GEOBUCKET_TOKEN=x", "GEOBUCKET_LISTEN=x", "GEOBUCKET_SERVICE_HOST=10.0.0.1",
        "GEOBUCKET_SERVICE_PORT_LINES=4362", "GEOBUCKET_PORT=tcp://10.0.0.1:4362",
        "GEOBUCKET_PORT_4362_TCP_ADDR=10.0.0.1", "GEOBUCKET_WEB_PORT_4364_TCP=tcp://10.0.0.1:4364",
        "NOGEOBUCKET_X=1",
    ])
    func `Other variables, and those that Kubernetes makes of a Service, are not`(
        _ variable: String
    ) async throws {
        try await withTemporaryFolder { folder in
            let process = try Self.start(variable, folder)
            #expect(await process.end() == 1)
            #expect(!process.standardError.contains("the environment"), "\(process.standardError)")
        }
    }

    @Test func `The variables of the repository's own scripts and tests are known`() async throws {
        let paths = ["Package.swift", ".ci/run"].map { Checkout.root.appending(path: $0) }
        let folders = ["scripts", "Tests", "Benchmarks", "deploy"]
            .map { Checkout.root.appending(path: $0) }
        let files = folders.flatMap { folder in
            let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
            return (all?.allObjects as? [URL] ?? []).filter {
                ["swift", "py", "sh", "yaml"].contains($0.pathExtension)
                    && !$0.path.contains("/.build/") && !$0.path.contains("CommandWordTests")
            }
        }
        var names: Set<String> = []
        for file in paths + files {
            let text = try String(contentsOf: file, encoding: .utf8)
            names.formUnion(text.matches(of: /\bGEOBUCKET_[A-Z_]+[A-Z]/).map { String($0.output) })
        }
        #expect(names.count > 20)
        try await withTemporaryFolder { folder in
            let process = try ChildProcess.start(
                "/usr/bin/env",
                names.map { $0 + "=x" } + [Program.path, "check", "--store", folder + "/none"],
                folder: folder)
            #expect(await process.end() == 1)
            #expect(!process.standardError.contains("the environment"), "\(process.standardError)")
        }
    }
}
