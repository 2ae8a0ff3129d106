import Foundation
import JSONText
import SyntheticData
import Workloads

/// The benchmarked program itself or an earlier build of it, on a store of its own.
final class GeoBucketServer: Server {
    let name: String
    let framing = Framing.line
    let version: String
    let port: Int
    private(set) var process: ChildProcess?
    let storePath: String
    private let folder: String
    private let program: String
    private let flags: [String]

    static let bucket = "places"
    static let benchmarked = "geobucket"

    /// - Parameter earlier: the path of an earlier build; nil: the benchmarked program.
    init(_ workspace: Workspace, earlier: String? = nil, flags: [String] = []) throws {
        name = earlier == nil ? Self.benchmarked : "before"
        folder = try workspace.newFolder(name)
        storePath = folder + "/store.sqlite"
        program = earlier ?? workspace.geobucket
        self.flags = flags
        port = try freePort()
        version =
            "geobucket "
            + (try ChildProcess.run([program, "--version"])).trimmingCharacters(in: .newlines)
    }

    func load(_ dataset: Dataset) throws -> LoadFacts {
        let file = folder + "/objects.ndjson"
        try dataset.writeLines(to: file) { dataset.write($0, into: &$1) }
        var facts = LoadFacts()
        _ = try start()
        facts.loadSeconds = try seconds {
            try ChildProcess.run(
                [
                    program, "load", file, "--bucket", Self.bucket, "--server", "127.0.0.1:\(port)",
                ])
        }
        try FileManager.default.removeItem(atPath: file)
        stop()
        facts.startSeconds = try start()
        facts.memoryBytesPerObject = Double(memoryBytes) / Double(dataset.count)
        facts.note = "resident, after a start and before queries"
        return facts
    }

    /// Starts on the present store; seconds until it answered.
    func start() throws -> Double {
        let process = try ChildProcess(
            [program, "serve", "--listen", "127.0.0.1:\(port)", "--store", storePath] + flags,
            log: folder + "/log")
        self.process = process
        let ping = Array(#"{"jsonrpc":"2.0","id":1,"method":"server.ping"}"#.utf8) + [0x0A]
        _ = try connectPatiently().ask(ping)
        return Double(now() - process.started) / 1e9
    }

    /// Bytes in memory, and those of them that are cached documents, as the service tells.
    func memory() throws -> (resident: Int, cached: Int) {
        let request = Array(#"{"jsonrpc":"2.0","id":1,"method":"server.stats"}"#.utf8) + [0x0A]
        return try JSONParser.reading(try connect().ask(request)) { answer in
            let memory = answer["result"]?["memory"]
            return (
                memory?["residentBytes"]?.number?.exactInt ?? 0,
                memory?["cachedDocumentBytes"]?.number?.exactInt ?? 0
            )
        }
    }
}
