import Foundation
import Glibc

/// A program started by the benchmark; it is told to stop when the benchmark ends, however it ends.
final class ChildProcess {
    private let process = Process()
    private let stopSignal: Int32
    /// When it was started.
    let started: UInt64

    var pid: Int32 { process.processIdentifier }

    var isRunning: Bool { process.isRunning }

    /// - Parameters:
    ///   - user: whom to run as; nil: as this process.
    ///   - log: the file that its output goes to.
    ///   - stopSignal: what makes it stop at once and in good order.
    init(
        _ command: [String], user: String? = nil, log: String, stopSignal: Int32 = SIGTERM
    ) throws {
        self.stopSignal = stopSignal
        process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
        process.arguments =
            ["--pdeathsig", stopSignal == SIGINT ? "INT" : "TERM"] + Self.asUser(user) + ["--"]
            + command
        try Data().write(to: URL(fileURLWithPath: log))
        let output = FileHandle(forWritingAtPath: log)
        process.standardOutput = output
        process.standardError = output
        process.standardInput = FileHandle.nullDevice
        started = now()
        try process.run()
    }

    /// Stops the program and waits until it is gone.
    func stop() {
        guard isRunning else { return }
        kill(pid, stopSignal)
        process.waitUntilExit()
    }

    /// Runs a program to its end; its standard output.
    @discardableResult
    static func run(_ command: [String], user: String? = nil) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
        process.arguments = asUser(user) + ["--pdeathsig", "TERM", "--"] + command
        let output = Pipe()
        let errors = Pipe()
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        let reason = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(
                "\(command.joined(separator: " ")): \(String(decoding: reason, as: UTF8.self))")
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func asUser(_ user: String?) -> [String] {
        guard let user, geteuid() == 0 else { return [] }
        return ["--reuid", user, "--regid", user, "--clear-groups"]
    }
}

/// What the kernel tells of processes.
enum ProcessTable {
    /// Seconds of processor time, user and system, that a process and its children, living and
    /// dead, have used. In steps of 10 ms.
    static func cpuSeconds(ofTree pid: Int32) -> Double {
        tree(pid).reduce(0) { sum, member in
            let fields = statFields(member)
            guard fields.count > 16 else { return sum }
            // utime, stime; of the first also what its children used that are gone.
            let own = fields[13] + fields[14]
            let gone = member == pid ? fields[15] + fields[16] : 0
            return sum + Double(own + gone) / Double(sysconf(Int32(_SC_CLK_TCK)))
        }
    }

    /// Bytes of a process and its children that are in memory; pages they share count once.
    static func memoryBytes(ofTree pid: Int32) -> Int {
        tree(pid).reduce(0) { sum, member in
            let text =
                (try? String(contentsOfFile: "/proc/\(member)/smaps_rollup", encoding: .utf8))
            let line = text?.split(separator: "\n").first { $0.hasPrefix("Pss:") }
            let kilobytes = line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
            return sum + (kilobytes ?? 0) * 1_024
        }
    }

    private static func tree(_ pid: Int32) -> [Int32] {
        let path = "/proc/\(pid)/task/\(pid)/children"
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return [pid] + text.split(separator: " ").compactMap { Int32($0) }
    }

    /// The numbers of `/proc/PID/stat` by their places, the first two as 0.
    private static func statFields(_ pid: Int32) -> [Int] {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let name = text.lastIndex(of: ")")
        else { return [] }
        return [0, 0] + text[name...].dropFirst(2).split(separator: " ").map { Int($0) ?? 0 }
    }
}
