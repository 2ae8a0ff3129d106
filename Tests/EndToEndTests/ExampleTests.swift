import Foundation
import TestSupport
import Testing

/// The example clients in `Examples/`, each run against a service.
@Suite struct ExampleTests {
    private static func tool(_ name: String) -> String? {
        ["/usr/bin/", "/bin/", "/usr/local/bin/"].map { $0 + name }.first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
    }

    private static func output(
        _ executable: String, _ arguments: [String], _ folder: String, status: Int32 = 0
    ) async throws -> (output: String, errors: String) {
        let process = try ChildProcess.start(executable, arguments, folder: folder)
        let end = await process.end()
        #expect(end == status, "\(arguments): \(process.standardError)")
        return (process.standardOutput, process.standardError)
    }

    @Test func `The store finder of the tutorial finds the stores`() async throws {
        try await withTemporaryFolder { folder in
            try await Program.serve(store: folder + "/s.sqlite", folder: folder) { _, port in
                let finder = (Program.path as NSString).deletingLastPathComponent + "/StoreFinder"
                let run = try await Self.output(
                    finder, ["127.0.0.1:\(port)", "35.66", "139.75"], folder)
                #expect(run.output == "Tower Café 443 m\nStation Café 2818 m\n1 open\n")
            }
        }
    }

    @Test(.enabled(if: tool("python3") != nil, "no python3"))
    func `The Python client works, in under sixty lines`() async throws {
        let script = Program.packageRoot + "/Examples/python/geobucket.py"
        let text = try String(contentsOfFile: script, encoding: .utf8)
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count < 60)
        try await withTemporaryFolder { folder in
            try await Program.serve(store: folder + "/s.sqlite", folder: folder) { _, port in
                let run = try await Self.output(
                    Self.tool("python3")!, [script, "127.0.0.1", "\(port)"], folder)
                #expect(
                    run.output
                        == "Tower 444\nStation 2818\nINVALID_INPUT_DATA object.location.lat\n")
            }
        }
    }

    @Test(
        .enabled(
            if: tool("nc") != nil && tool("jq") != nil,
            "no nc or no jq: scripts/install.sh installs them"))
    func `The shell client works`() async throws {
        let script = Program.packageRoot + "/Examples/shell/geobucket.sh"
        try await withTemporaryFolder { folder in
            try await Program.serve(store: folder + "/s.sqlite", folder: folder) { _, port in
                let server = ["127.0.0.1", "\(port)"]
                let ping = try await Self.output(script, server + ["server.ping"], folder)
                #expect(ping.output == "\"pong\"\n")
                for (id, latitude) in [("far", 35.7), ("near", 35.661)] {
                    let params =
                        #"{"bucket":"b1","id":"\#(id)","object":{"name":"\#(id) one","location":{"_type":"point","lat":\#(latitude),"lon":139.75}}}"#
                    _ = try await Self.output(script, server + ["object.put", params], folder)
                }
                let near = try await Self.output(
                    script, ["near"] + server + ["b1", "35.66", "139.75", "10000"], folder)
                #expect(near.output == "near one 111\nfar one 4448\n")
                let refused = try await Self.output(
                    script, server + ["object.get", #"{"bucket":"b1"}"#], folder, status: 1)
                #expect(refused.errors.hasPrefix("INVALID_INPUT_DATA id: "), "\(refused.errors)")
            }
        }
    }

    @Test(arguments: [
        ("python3", "python/geobucket.py"), ("bash", "shell/geobucket.sh"),
        ("python3", "kii-python/kii.py"), ("node", "kii-node/kii.js"),
        ("python3", "webhooks/webhooks.py"),
    ])
    func `An example without arguments says how to call it`(
        _ name: String, _ script: String
    ) async throws {
        guard let tool = Self.tool(name) else { return }
        try await withTemporaryFolder { folder in
            let process = try ChildProcess.start(
                tool, [Program.packageRoot + "/Examples/" + script], folder: folder)
            #expect(await process.end() != 0)
            #expect(process.standardError.hasPrefix("usage: "), "\(process.standardError)")
        }
    }
}
