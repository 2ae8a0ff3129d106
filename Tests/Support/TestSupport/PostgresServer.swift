import Foundation
import Glibc
import Synchronization

/// A PostgreSQL server of the test process's own, in a temporary folder. It ends with the process.
public final class PostgresServer: Sendable {
    /// The one server of this process; nil if PostgreSQL is not installed.
    public static let shared: PostgresServer? = {
        guard let programs else {
            print(
                "geobucket: PostgreSQL is not installed (Debian's package postgresql): "
                    + "the tests of the cluster are skipped")
            return nil
        }
        return try! PostgresServer(programs: programs)
    }()

    /// The address of its database, without a schema.
    public let url: String

    private let process: Process
    private let lifeline = Pipe()

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

    private init(programs: String) throws {
        var template = Array("/tmp/geobucket-postgres-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw POSIXError(.EIO) }
        let folder = String(cString: made)
        url = "postgresql:///postgres?host=\(folder)&user=geobucket"
        // The server refuses to run as root. When the pipe's other end is gone, so is this process.
        let script = """
            set -e
            as=
            if [ "$(id -u)" = 0 ]; then
                chown postgres "$1"
                as="setpriv --reuid=postgres --regid=postgres --clear-groups"
            fi
            $as "$2/initdb" -D "$1/data" -U geobucket -A trust --encoding=UTF8 --locale=C \
                >"$1/log" 2>&1
            $as "$2/postgres" -D "$1/data" -k "$1" -c listen_addresses= -c fsync=off \
                -c max_connections=400 </dev/null >>"$1/log" 2>&1 &
            server=$!
            cat >/dev/null
            kill -QUIT $server
            wait $server || true
            rm -rf "$1"
            """
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", script, "sh", folder, programs]
        process.standardInput = lifeline
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        // The server writes its state there.
        let status = "\(folder)/data/postmaster.pid"
        let end = ContinuousClock.now + hangTime
        while (try? String(contentsOfFile: status, encoding: .utf8))?.contains("ready") != true {
            guard process.isRunning, ContinuousClock.now < end else {
                throw POSIXError(.ECONNREFUSED)
            }
            usleep(20_000)
        }
    }
}
