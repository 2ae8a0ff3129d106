import Foundation
import SyntheticData
import Workloads

/// redis-server: positions in geo sets, documents and what is filtered by in keys of their own.
///
/// `geo` holds all positions and `geo:CATEGORY` those of one category; `o:ID` is a document,
/// `a:ID` a hash of category and rating; `top:CATEGORY` is a set sorted by rating.
final class RedisServer: Server {
    let name = "redis"
    let framing = Framing.resp
    let version: String
    let port: Int
    private(set) var process: ChildProcess?
    private let folder: String

    init(_ workspace: Workspace) throws {
        folder = try workspace.newFolder("redis")
        port = try freePort()
        let text = try ChildProcess.run(["redis-server", "--version"])
        version =
            "redis " + (text.split(separator: " ").first { $0.hasPrefix("v=") }?.dropFirst(2) ?? "")
    }

    func load(_ dataset: Dataset) throws -> LoadFacts {
        var facts = LoadFacts()
        _ = try start()
        let connection = try connect()
        for object in 0..<dataset.count { try put(object, of: dataset, connection) }
        try flush(connection)
        facts.loadSeconds = loadSeconds
        _ = try connection.ask(RESP.request(["SAVE"]))
        stop()
        facts.startSeconds = try start()
        facts.memoryBytesPerObject = Double(memoryBytes) / Double(dataset.count)
        facts.note = "resident; started from an RDB file"
        return facts
    }

    /// Every write in a log that is synced before it is answered.
    func makeDurable() throws {
        let connection = try connect()
        _ = try connection.ask(RESP.request(["CONFIG", "SET", "appendfsync", "always"]))
        _ = try connection.ask(RESP.request(["CONFIG", "SET", "appendonly", "yes"]))
        while true {
            guard
                case .text(let info) = try RESP.value(
                    connection.ask(RESP.request(["INFO", "persistence"])))
            else { throw Failure("redis tells nothing of its log") }
            if info.contains("aof_rewrite_in_progress:0") && info.contains("rewrite_scheduled:0") {
                return
            }
            usleep(50_000)
        }
    }

    /// Loads a script; the name to call it by.
    func script(_ text: String) throws -> String {
        guard
            case .text(let digest) = try RESP.value(
                connect().ask(RESP.request(["SCRIPT", "LOAD", text])))
        else { throw Failure("redis took no script") }
        return digest
    }

    private func start() throws -> Double {
        let process = try ChildProcess(
            [
                "redis-server", "--port", "\(port)", "--bind", "127.0.0.1", "--dir", folder,
                "--save", "", "--appendonly", "no", "--auto-aof-rewrite-percentage", "0",
            ], log: folder + "/log")
        self.process = process
        let connection = try connectPatiently()
        // While it reads its file it answers every command with an error.
        while (try? connection.ask(RESP.request(["PING"]))) == nil { usleep(1_000) }
        return Double(now() - process.started) / 1e9
    }

    // MARK: Loading

    private var queue: [UInt8] = []
    private var queued = 0
    /// Without what encoding the commands took.
    private var loadSeconds = 0.0

    private func put(_ object: Int, of dataset: Dataset, _ connection: Connection) throws {
        let id = Dataset.id(object)
        let coordinate = dataset.positions[object].coordinate
        let category = Dataset.categoryNames[Int(dataset.categories[object])]
        let rating = "\(dataset.ratings[object])"
        let position = ["\(coordinate.longitude)", "\(coordinate.latitude)", id]
        let document = String(decoding: dataset.document(of: object), as: UTF8.self)
        for command in [
            ["GEOADD", "geo"] + position, ["GEOADD", "geo:" + category] + position,
            ["SET", "o:" + id, document], ["HSET", "a:" + id, "c", category, "r", rating],
            ["ZADD", "top:" + category, rating, id],
        ] {
            queue += RESP.request(command)
            queued += 1
        }
        if queued >= 1_000 { try flush(connection) }
    }

    private func flush(_ connection: Connection) throws {
        guard queued > 0 else { return }
        loadSeconds += try seconds { try connection.exchange(queue, answers: queued) }
        queue.removeAll(keepingCapacity: true)
        queued = 0
    }
}
