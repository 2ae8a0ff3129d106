import Glibc

/// The file of the audit log, which is begun anew when it is long: `audit.log` becomes `audit.log.1`,
/// that becomes `audit.log.2`, and so on.
///
/// One thread at a time may use it.
struct AuditFile: ~Copyable {
    private let path: String
    /// A line that would pass it begins another file.
    var maximumBytes: Int
    /// How many of the older files are kept.
    var keptFiles: Int
    private var descriptor: Int32
    private var bytes: Int
    /// How many lines it has taken.
    private(set) var lines = 0

    /// Why the file cannot be used, without its path.
    struct Fault: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }

        fileprivate init(errno: Int32) { self.init(String(cString: strerror(errno))) }
    }

    /// Opens the file at its end, or creates it for its owner alone.
    init(path: String, maximumBytes: Int, keptFiles: Int) throws(Fault) {
        (self.path, self.maximumBytes, self.keptFiles) = (path, maximumBytes, keptFiles)
        (descriptor, bytes) = try Self.open(path)
    }

    deinit { close(descriptor) }

    private static func open(_ path: String) throws(Fault) -> (descriptor: Int32, bytes: Int) {
        // A pipe that nobody reads would block.
        let file = Glibc.open(
            path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0o600)
        guard file >= 0 else { throw Fault(errno: errno) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(file)
            throw Fault("it is no regular file")
        }
        return (file, Int(status.st_size))
    }

    /// Appends lines, which end with a line break.
    ///
    /// - Throws: when they cannot be written; `lines` tells how many were.
    mutating func append(_ lines: [[UInt8]]) throws(Fault) {
        var (joined, count): ([UInt8], Int) = ([], 0)
        for line in lines {
            let size = bytes + joined.count
            if size > 0, size + line.count > maximumBytes {
                try append(joined, of: count)
                (joined, count) = ([], 0)
                try rotate()
            }
            joined += line
            count += 1
        }
        try append(joined, of: count)
    }

    private mutating func append(_ text: [UInt8], of count: Int) throws(Fault) {
        var rest = text[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(descriptor, $0.baseAddress!, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else {
                let fault = Fault(errno: errno)
                // What cannot be written whole is taken back, so that no line is cut.
                if rest.count < text.count { ftruncate(descriptor, off_t(bytes)) }
                throw fault
            }
            rest = rest.dropFirst(written)
        }
        bytes += text.count
        lines += count
    }

    /// Opens the file anew, which somebody may have renamed or removed.
    mutating func reopen() throws(Fault) {
        let opened = try Self.open(path)
        close(descriptor)
        (descriptor, bytes) = opened
    }

    private mutating func rotate() throws(Fault) {
        if keptFiles == 0 { unlink(path) }
        // Without the file the last attempt has renamed it, and could not open another.
        let begin = access(path, F_OK) == 0 ? keptFiles : 0
        for number in stride(from: begin, to: 0, by: -1) {
            let older = number == 1 ? path : "\(path).\(number - 1)"
            guard rename(older, "\(path).\(number)") == 0 || errno == ENOENT else {
                throw Fault(errno: errno)
            }
        }
        try reopen()
    }
}
