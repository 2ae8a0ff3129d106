import CGlibc
import Foundation
import Glibc
import Synchronization
import TestSupport

/// A program that a test started: its output goes into files, its end is awaited without blocking.
final class ChildProcess: Sendable {
    private let pid: pid_t
    private let output: String
    private let errors: String
    /// The exit status once it is known. The process's number means nothing from then on.
    private let status = Mutex<Int32?>(nil)

    private init(pid: pid_t, output: String, errors: String) {
        self.pid = pid
        self.output = output
        self.errors = errors
    }

    /// - Parameter folder: where the output is kept; each process takes names of its own.
    static func start(
        _ executable: String, _ arguments: [String], folder: String
    ) throws -> ChildProcess {
        let name = "\(folder)/\(UUID().uuidString)"
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let flags = O_WRONLY | O_CREAT
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, name + ".out", flags, 0o600)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, name + ".err", flags, 0o600)
        // Otherwise the connections of other tests, which it would keep open, would not end.
        gb_close_from(&actions, 3)
        let words = ([executable] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var pid: pid_t = 0
        let status = posix_spawn(&pid, executable, &actions, nil, words, environ)
        guard status == 0 else {
            throw TestFailure("\(executable) does not start: \(String(cString: strerror(status)))")
        }
        return ChildProcess(pid: pid, output: name + ".out", errors: name + ".err")
    }

    /// How many files it has open.
    var openFiles: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count) ?? 0
    }

    var standardOutput: String { Self.text(output) }
    var standardError: String { Self.text(errors) }

    /// Waits until standard error has a text so many times; the suite's time limit ends a wait in
    /// vain.
    func waitForError(_ text: String, times: Int = 1) async throws {
        while standardError.ranges(of: text).count < times {
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Sends a signal, unless the process has been seen to end.
    func signal(_ number: Int32) {
        status.withLock { status in
            if status == nil { Glibc.kill(pid, number) }
        }
    }

    /// The exit status, 128 and the signal's number for a process that a signal ended, or nil when
    /// it still runs after so long.
    func end(within time: Duration = hangTime) async -> Int32? {
        let deadline = ContinuousClock.now + time
        while true {
            if let status = endedStatus() { return status }
            guard ContinuousClock.now < deadline else { return nil }
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    private func endedStatus() -> Int32? {
        status.withLock { status in
            if let status { return status }
            var word: Int32 = 0
            guard waitpid(pid, &word, WNOHANG) == pid else { return nil }
            status = word & 0x7F == 0 ? word >> 8 & 0xFF : 128 + word & 0x7F
            return status
        }
    }

    /// Ends it the hard way.
    func killAndWait() async {
        signal(SIGKILL)
        _ = await end()
    }

    private static func text(_ path: String) -> String {
        String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }
}

struct TestFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The built program.
enum Program {
    /// Beside the test bundle; else in the package's debug folder.
    static let path: String = {
        let bundle = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let beside = bundle.map { ($0 as NSString).deletingLastPathComponent + "/geobucket" }
        if let beside, FileManager.default.isExecutableFile(atPath: beside) { return beside }
        return packageRoot + "/.build/debug/geobucket"
    }()

    static let packageRoot = Checkout.root.path

    /// Runs the program to its end.
    static func run(
        _ arguments: [String], folder: String
    ) async throws -> (status: Int32, output: String, errors: String) {
        let process = try ChildProcess.start(path, arguments, folder: folder)
        guard let status = await process.end() else {
            await process.killAndWait()
            throw TestFailure("geobucket \(arguments) does not end: \(process.standardError)")
        }
        return (status, process.standardOutput, process.standardError)
    }

    /// Runs `geobucket serve` and gives `body` the process and its port; kills it afterwards when
    /// it still runs.
    ///
    /// - Parameter environment: variables besides those of this process, `NAME=value`.
    static func serve<Result>(
        store: String, folder: String, host: String = "127.0.0.1", port: Int = 0,
        flags: [String] = [], environment: [String] = [],
        _ body: (ChildProcess, Int) async throws -> Result
    ) async throws -> Result {
        let process = try ChildProcess.start(
            "/usr/bin/env",
            environment + [path, "serve", "--listen", "\(host):\(port)", "--store", store] + flags,
            folder: folder)
        do {
            let result = try await body(process, try await Self.port(of: process))
            await process.killAndWait()
            return result
        } catch {
            await process.killAndWait()
            throw error
        }
    }

    /// The port of the line that says the service is ready.
    private static func port(of process: ChildProcess) async throws -> Int {
        for _ in 0..<4_000 {
            for line in process.standardOutput.split(
                separator: "\n", omittingEmptySubsequences: false
            )
            .dropLast() where line.hasPrefix("geobucket ready on ") {
                return Int(line.split(separator: ":").last!)!
            }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw TestFailure("geobucket serve is not ready: \(process.standardError)")
    }
}
