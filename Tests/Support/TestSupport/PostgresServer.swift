import Foundation
import Glibc
import Synchronization
import Testing

/// A PostgreSQL server of the test process's own, in a temporary folder. It ends with the process.
public final class PostgresServer: Sendable {
    /// The one server of this process; nil if PostgreSQL is not installed.
    public static let shared = programs.map { try! PostgresServer(programs: $0) }

    /// Why tests are skipped that need a server where there is none.
    static let missing = "PostgreSQL is not installed (Debian's package postgresql)"

    /// The one server of this process. Where there is none, the test that asks for it is skipped.
    public static func required() throws -> PostgresServer {
        if let shared { return shared }
        // The log of a run does not tell that a test was skipped for one of its arguments.
        if let test = Test.current, test.isParameterized {
            print("➜ Test case of \"\(test.displayName ?? test.name)\" skipped: \"\(missing)\"")
        }
        try Test.cancel("\(missing)")
    }

    /// The folder of its socket, and the host of its address.
    public let folder: String

    /// The address of its database, without a schema.
    public var url: String { Self.url(of: [self]) }

    /// The address of the database of several servers.
    public static func url(of servers: [PostgresServer]) -> String {
        let hosts = servers.map(\.folder).joined(separator: ",")
        return "postgresql:///postgres?host=\(hosts)&user=geobucket"
    }

    private let programs: String
    private let process = Process()
    /// Its orders; when the other end of the pipe is gone, so is this process, and the server ends.
    private let orders = Pipe()

    /// The folder of PostgreSQL's programs: Debian's, of the latest version, or one of the PATH.
    private static let programs: String? = {
        let debian = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: debian)) ?? []
        let folders =
            versions.compactMap(Int.init).sorted(by: >).map { "\(debian)/\($0)/bin" }
            + (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(
                String.init)
        return folders.first {
            FileManager.default.isExecutableFile(atPath: $0 + "/initdb")
                && FileManager.default.isExecutableFile(atPath: $0 + "/postgres")
        }
    }()

    /// Another server, which ends with this object or with the process.
    ///
    /// - Parameters:
    ///   - settings: such as `synchronous_standby_names=*`.
    ///   - primary: the server that it copies and follows.
    public static func start(
        settings: [String] = [], standbyOf primary: PostgresServer? = nil
    ) throws -> PostgresServer {
        try PostgresServer(programs: shared!.programs, settings: settings, standbyOf: primary)
    }

    private init(
        programs: String, settings: [String] = [], standbyOf primary: PostgresServer? = nil
    ) throws {
        self.programs = programs
        var template = Array("/tmp/geobucket-postgres-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw POSIXError(.EIO) }
        folder = String(cString: made)
        // The server refuses to run as root.
        let script = """
            set -e
            folder=$1 programs=$2 primary=$3
            shift 3
            as=
            if [ "$(id -u)" = 0 ]; then
                chown postgres "$folder"
                as="setpriv --reuid=postgres --regid=postgres --clear-groups"
            fi
            if [ -n "$primary" ]; then
                $as "$programs/pg_basebackup" -D "$folder/data" -h "$primary" -U geobucket -R \
                    --checkpoint=fast
            else
                $as "$programs/initdb" -D "$folder/data" -U geobucket -A trust --encoding=UTF8 \
                    --locale=C
            fi >"$folder/log" 2>&1
            start() {
                $as "$programs/postgres" -D "$folder/data" -k "$folder" -c listen_addresses= \
                    -c fsync=off -c max_connections=400 "$@" </dev/null >>"$folder/log" 2>&1 &
                server=$!
            }
            stop() {
                kill -QUIT $server || true
                wait $server || true
                rm -f "$folder/data/postmaster.pid"
            }
            start "$@"
            while read -r order; do eval "$order"; done
            stop
            rm -rf "$folder"
            """
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments =
            ["-c", script, "sh", folder, programs, primary?.folder ?? ""]
            + settings.flatMap { ["-c", $0] }
        process.standardInput = orders
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        try waitUntil { $0.contains("ready") || $0.contains("standby") }
    }

    /// Ends it at once, as a crash would.
    public func stop() throws { try order("stop") { $0.isEmpty } }

    /// Starts it again.
    public func start() throws {
        try order(#"start "$@""#) { $0.contains("ready") || $0.contains("standby") }
    }

    /// Makes a standby a primary.
    public func promote() throws {
        try Data().write(to: URL(fileURLWithPath: "\(folder)/data/promote"))
        try order("kill -USR1 $server") { $0.contains("ready") }
    }

    private func order(_ order: String, until condition: (String) -> Bool) throws {
        orders.fileHandleForWriting.write(Data("\(order)\n".utf8))
        try waitUntil(condition)
    }

    /// Waits for a state of the server, which it writes to a file.
    private func waitUntil(_ condition: (String) -> Bool) throws {
        let status = "\(folder)/data/postmaster.pid"
        let end = ContinuousClock.now + hangTime
        while !condition((try? String(contentsOfFile: status, encoding: .utf8)) ?? "") {
            guard process.isRunning, ContinuousClock.now < end else {
                throw POSIXError(.ECONNREFUSED)
            }
            usleep(20_000)
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// Where there is no PostgreSQL, the test or suite is skipped.
    public static var needsPostgreSQL: Self {
        .enabled(if: PostgresServer.shared != nil, "\(PostgresServer.missing)")
    }
}
