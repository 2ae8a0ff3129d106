import Glibc
import Interchange

/// Standard output for results, standard error for everything else.
enum Console {
    /// Writes a line to standard error.
    static func error(_ message: String, prefix: String = "geobucket: ") {
        try? write(Array("\(prefix)\(message)\n".utf8), to: STDERR_FILENO)
    }

    /// Writes to standard error as it is.
    static func status(_ text: String) { try? write(Array(text.utf8), to: STDERR_FILENO) }

    /// Writes to standard output, unbuffered. Where nobody reads it any more, as behind `| head`, the
    /// program ends.
    static func write(_ bytes: [UInt8]) throws { try write(bytes, to: STDOUT_FILENO) }

    static func write(_ text: String) throws { try write(Array(text.utf8)) }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress!, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EPIPE, descriptor == STDOUT_FILENO { exit(0) }
            guard count > 0 else {
                throw CommandFailure(
                    "the output cannot be written: \(String(cString: strerror(errno)))")
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Writes lines to a terminal in place of what it shows, as many and as much of each as fit.
    static func show(_ lines: [String]) throws {
        let size = terminalSize
        let fitted = lines.prefix(max((size?.rows ?? 24) - 1, 1)).map {
            TerminalLine.fitted($0, to: size?.columns ?? 80)
        }
        try write("\u{1B}[H\u{1B}[J" + fitted.joined(separator: "\r\n") + "\r\n")
    }

    static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
    static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Whether standard output takes bold and colour.
    static var takesStyle: Bool { outputIsTerminal && getenv("NO_COLOR") == nil }

    /// Columns of the terminal; nil if standard output is not one.
    static var columns: Int? {
        guard outputIsTerminal else { return nil }
        return terminalSize?.columns ?? 80
    }

    private static var terminalSize: (columns: Int, rows: Int)? {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
        else { return nil }
        return (Int(size.ws_col), Int(size.ws_row))
    }
}

/// Why a command failed: a sentence for a person; exit status 1.
struct CommandFailure: Error, CustomStringConvertible {
    let message: String

    init(_ message: String) { self.message = message }

    /// A flag that needs a package trait which this build lacks.
    init(without trait: String, _ flag: String) {
        self.init(
            "this program was built without \(trait), which \(flag) needs; "
                + "`swift build -c release --product geobucket` builds one with it")
    }

    var description: String { message }
}
