import Foundation
import Glibc
import SyntheticData
import Workloads

/// What a server needed to take the objects in and to come up with them.
struct LoadFacts: Codable {
    var loadSeconds = 0.0
    /// From the start of the program to its first answer, on the loaded store.
    var startSeconds = 0.0
    /// Resident, by object.
    var memoryBytesPerObject = 0.0
    var note = ""
}

/// A program on a port of this machine that is loaded with a dataset.
protocol Server: AnyObject {
    /// How it is called in files and flags.
    var name: String { get }
    var version: String { get }
    var framing: Framing { get }
    var port: Int { get }
    var process: ChildProcess? { get }

    /// Starts the program on an empty folder, loads the objects, starts it anew.
    func load(_ dataset: Dataset) throws -> LoadFacts

    /// Does what a new connection needs before its first request.
    func greet(_ connection: Connection) throws

    /// Makes writes as durable as GeoBucket's, before Q8.
    func makeDurable() throws

    func stop()
}

extension Server {
    func greet(_ connection: Connection) throws {}

    func makeDurable() throws {}

    func stop() { process?.stop() }

    func connect() throws -> Connection {
        let connection = try Connection(port: port, framing: framing)
        try greet(connection)
        return connection
    }

    /// Connects as soon as the server lets it; gives up after five minutes or when it has ended.
    func connectPatiently() throws -> Connection {
        let deadline = now() + 300_000_000_000
        while process?.isRunning == true, now() < deadline {
            if let connection = try? connect() { return connection }
            usleep(1_000)
        }
        throw Failure("\(name) does not come up")
    }

    var cpuSeconds: Double { process.map { ProcessTable.cpuSeconds(ofTree: $0.pid) } ?? 0 }

    var memoryBytes: Int { process.map { ProcessTable.memoryBytes(ofTree: $0.pid) } ?? 0 }
}

/// Where a run keeps its files, and what it shares between servers.
struct Workspace {
    /// A folder that the caller removes.
    let folder: String
    /// The benchmarked program.
    let geobucket: String

    /// A new folder inside.
    func newFolder(_ name: String) throws -> String {
        let path = "\(folder)/\(name)"
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
        return path
    }
}

/// A port of this machine that nobody uses now.
func freePort() throws -> Int {
    let fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(fd) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(fd, $0, length) | getsockname(fd, $0, &length)
        }
    }
    guard status == 0 else { throw Failure("no free port") }
    return Int(in_port_t(bigEndian: address.sin_port))
}

/// How long something took.
func seconds(_ body: () throws -> Void) rethrows -> Double {
    let start = now()
    try body()
    return Double(now() - start) / 1e9
}

/// Says on standard error what is being done.
func progress(_ text: String) {
    FileHandle.standardError.write(Data((text + "\n").utf8))
}
