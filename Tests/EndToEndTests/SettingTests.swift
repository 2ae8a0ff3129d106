import Foundation
import TestSupport
import Testing

/// A setting of `serve` is a flag, a variable of the environment, a member of the configuration file and
/// a line of the manual, all of one name.
@Suite struct SettingTests {
    /// The flags that are no settings.
    private static let others: Set<String> = ["config", "help", "version"]

    private static func flag(_ setting: some StringProtocol) -> String {
        setting.map { $0.isUppercase ? "-\($0.lowercased())" : String($0) }.joined()
    }

    @Test func `Every flag of serve can stand in the configuration file, and nothing else can`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let help = try await Program.run(["serve", "--help"], folder: folder).output
            let flags = Set(
                help.matches(of: /(?m)^ +(?:-\w, )?--([a-z0-9-]+)/).map { String($0.1) })
            try #"{"nonsense":1}"#.write(
                toFile: folder + "/config.json", atomically: true, encoding: .utf8)
            let refusal = try await Program.run(
                ["serve", "--config", folder + "/config.json"], folder: folder)
            let known = try #require(refusal.errors.firstMatch(of: /known are ([\w, ]+)/))
            let settings = Set(known.1.split(separator: ", ").map(Self.flag))
            #expect(settings.count > 50)
            #expect(settings.symmetricDifference(flags.subtracting(Self.others)) == [])
        }
    }

    @Test(
        arguments: [
            (["GEOBUCKET_LISTEN="], [], #"GEOBUCKET_LISTEN: "" is no HOST:PORT"#),
            (["GEOBUCKET_LISTEN=x"], ["--listen", "y"], #"--listen: "y" is no HOST:PORT"#),
            ([], [], #""listen" of the configuration file: "z" is no HOST:PORT"#),
            (
                ["GEOBUCKET_LISTEN=a:1", "GEOBUCKET_LINE_BYTES=1"], [],
                "GEOBUCKET_LINE_BYTES has to be"
            ),
            (
                ["GEOBUCKET_LISTEN=a:1"], ["--log-level", "loud"],
                #"--log-level: "loud" is none of"#
            ),
            (
                ["GEOBUCKET_LISTEN=a:1"], ["--insecure", "--tokens", ""],
                "--tokens: the path is empty"
            ),
        ] as [([String], [String], String)])
    func `A wrong value is said with where it comes from`(
        _ environment: [String], _ flags: [String], _ message: String
    ) async throws {
        try await withTemporaryFolder { folder in
            let config = folder + "/config.json"
            try #"{"listen":"z"}"#.write(toFile: config, atomically: true, encoding: .utf8)
            let process = try ChildProcess.start(
                "/usr/bin/env",
                environment + [Program.path, "serve", "--config", config] + flags, folder: folder)
            #expect(await process.end() == 2)
            #expect(process.standardError.contains(message), "\(process.standardError)")
        }
    }

    @Test func `The manual of the command line has every flag of serve`() async throws {
        let manual = try ["docs/command-line.md", "docs/protocol.md"].map {
            try String(contentsOf: Checkout.root.appending(path: $0), encoding: .utf8)
        }
        let limits = manual[1].matches(of: /(?m)^\| `(\w+)` \|/).map { Self.flag($0.1) }
        let documented = Set(manual[0].matches(of: /--([a-z0-9-]+)/).map { String($0.1) } + limits)
        let help = try await withTemporaryFolder {
            try await Program.run(["serve", "--help"], folder: $0).output
        }
        for flag in help.matches(of: /(?m)^ +(?:-\w, )?--([a-z0-9-]+)/) {
            let name = String(flag.1)
            #expect(documented.contains(name) || Self.others.contains(name), "--\(name)")
        }
    }
}
