import Foundation
import TestSupport
import Testing

@testable import geobucket

/// A setting of `serve` is a flag, a variable of the environment, a member of the configuration file and
/// a line of the manual, all of one name.
@Suite struct SettingTests {
    /// The flags that are no settings.
    private static let others: Set<String> = ["config", "help", "help-all", "version"]

    private static func flag(_ setting: some StringProtocol) -> String {
        setting.map { $0.isUppercase ? "-\($0.lowercased())" : String($0) }.joined()
    }

    @Test func `Every flag of serve can stand in the configuration file, and nothing else can`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let help = try await Program.run(["serve", "--help-all"], folder: folder).output
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
            (
                ["GEOBUCKET_LISTEN=a:1", "GEOBUCKET_LINE_BYTES=1Mb2"], [],
                #"GEOBUCKET_LINE_BYTES is "1Mb2"; expected a whole number of bytes, or one with KB"#
            ),
            (
                ["GEOBUCKET_LISTEN=a:1"], ["--idle-milliseconds", "1h30m"],
                "expected a whole number of milliseconds, or one with ms, s, m, h or d"
            ),
            (
                ["GEOBUCKET_LISTEN=a:1"], ["--drain-seconds", "1500ms"],
                "expected a whole number of seconds, or one with s, m, h or d"
            ),
            (
                ["GEOBUCKET_LISTEN=a:1"], ["--line-bytes", "2GiB"],
                "--line-bytes has to be 1024 to 1073741824, not 2147483648"
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
            try await Program.run(["serve", "--help-all"], folder: $0).output
        }
        for flag in help.matches(of: /(?m)^ +(?:-\w, )?--([a-z0-9-]+)/) {
            let name = String(flag.1)
            #expect(documented.contains(name) || Self.others.contains(name), "--\(name)")
        }
    }

    @Test(
        arguments: [
            (Measure.bytes, "65536", 65_536), (.bytes, "64KiB", 65_536), (.bytes, "64kib", 65_536),
            (.bytes, "2KB", 2_000), (.bytes, "3MB", 3_000_000), (.bytes, "1GB", 1_000_000_000),
            (.bytes, "1MiB", 1 << 20), (.bytes, "4GiB", 4 << 30), (.bytes, "5s", nil),
            (.bytes, "GB", nil), (.bytes, "1.5GB", nil), (.bytes, "9999999999GB", nil),
            (.milliseconds, "250", 250), (.milliseconds, "250ms", 250),
            (.milliseconds, "30s", 30_000),
            (.milliseconds, "5m", 300_000), (.milliseconds, "2h", 7_200_000),
            (.milliseconds, "1d", 86_400_000), (.milliseconds, "1KB", nil),
            (.seconds, "8", 8), (.seconds, "2m", 120), (.seconds, "2000ms", 2),
            (.seconds, "2500ms", nil), (.count, "7", 7), (.count, "7s", nil), (.count, "", nil),
        ] as [(Measure, String, Int?)])
    func `Sizes and times take units, in whole numbers`(
        _ measure: Measure, _ text: String, _ value: Int?
    ) {
        #expect(measure.value(of: text) == value)
    }

    @Test func `A size or a time has its units wherever it is set`() async throws {
        try await withTemporaryFolder { folder in
            let config = folder + "/config.json"
            try #"{"objectBytes":"32KiB","idleMilliseconds":"2h","drainSeconds":"4s"}"#.write(
                toFile: config, atomically: true, encoding: .utf8)
            try await Program.serve(
                store: folder + "/s.sqlite", folder: folder,
                flags: ["--config", config, "--line-bytes", "1MB"],
                environment: ["GEOBUCKET_QUERY_MILLISECONDS=3m"]
            ) { _, port in
                let info = try await Program.run(
                    ["call", "server.info", "--server", "127.0.0.1:\(port)"], folder: folder)
                for (name, value) in [
                    ("objectBytes", 32_768), ("idleMilliseconds", 7_200_000),
                    ("lineBytes", 1_000_000), ("queryMilliseconds", 180_000),
                ] {
                    #expect(info.output.contains("\"\(name)\":\(value),"), "\(info)")
                }
            }
        }
    }

    @Test(arguments: [
        (#"{"lineByte":1}"#, #""lineByte" is no setting; the nearest is "lineBytes""#),
        (
            #"{"lineBytes":"1 MB"}"#,
            #""lineBytes" has to be a whole number of bytes, or one with KB"#
        ),
        (#"{"requestsPerSecond":"1s"}"#, #""requestsPerSecond" has to be a whole number"#),
    ])
    func `A member of the file that is mistyped is told`(
        _ text: String, _ message: String
    ) async throws {
        try await withTemporaryFolder { folder in
            let config = folder + "/config.json"
            try text.write(toFile: config, atomically: true, encoding: .utf8)
            let run = try await Program.run(["serve", "--config", config], folder: folder)
            #expect(run.status == 2 && run.errors.contains(message), "\(run)")
        }
    }
}
