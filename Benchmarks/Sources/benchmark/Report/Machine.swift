import Foundation

/// Where and of what a report was made.
struct Machine: Codable {
    var date: String
    var processor: String
    var processors: Int
    var memoryGB: Int
    var kernel: String
    var swift: String
    var commit: String

    /// This machine, now, and the commit whose checkout this program was built in.
    init() {
        let program = URL(fileURLWithPath: Bundle.main.executablePath ?? "/")
        let folder = program.deletingLastPathComponent().path
        func output(_ command: [String]) -> String {
            ((try? ChildProcess.run(command)) ?? "unknown").trimmingCharacters(
                in: .whitespacesAndNewlines)
        }
        func field(_ name: String, of file: String) -> String {
            let lines = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
            let line = lines.split(separator: "\n").first { $0.hasPrefix(name) }
            let value = line?.split(separator: ":").dropFirst().first ?? "unknown"
            return value.trimmingCharacters(in: .whitespaces)
        }
        date = output(["date", "-u", "+%Y-%m-%d"])
        processor = field("model name", of: "/proc/cpuinfo")
        processors = ProcessInfo.processInfo.processorCount
        memoryGB = Int((Double(ProcessInfo.processInfo.physicalMemory) / 1e9).rounded())
        kernel = output(["uname", "-sr"])
        swift = output(["swift", "--version"]).split(separator: "\n").first.map(String.init) ?? ""
        let changes = output(["git", "-C", folder, "status", "--porcelain", "-uno"])
        commit =
            output(["git", "-C", folder, "rev-parse", "--short=12", "HEAD"])
            + (changes.isEmpty ? "" : " with changes")
    }

    var lines: String {
        """
        - \(date), commit \(commit)
        - \(processors) x \(processor), \(memoryGB) GB, \(kernel)
        - \(swift)
        """
    }
}
