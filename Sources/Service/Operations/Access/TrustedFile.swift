import Glibc
import Runtime

/// A file that the service goes by, such as its tokens, keys and settings, as it was when it was
/// read.
///
///     let file = try TrustedFile(path: "tokens.json", maximumBytes: 67_108_864)
///
/// Only regular files are read, and within a bound: a pipe would hold its reader up, a device fill
/// the memory. One that everybody may write is refused: whoever writes it decides who may log in.
public struct TrustedFile: Sendable {
    /// All that the file held.
    public let bytes: [UInt8]
    /// What tells the file from any later one; nil when that cannot be told, as it was changed while
    /// it was read or just before, and file systems count time in steps.
    public let stamp: FileStamp?

    /// Why a file is not gone by; the path is left to whoever tells it.
    public struct Fault: Error, Equatable, CustomStringConvertible {
        /// What is wrong, such as `it is no regular file`, to stand behind the path.
        public let description: String

        init(_ description: String) { self.description = description }

        fileprivate init(errno: Int32) {
            self.init("it cannot be read: \(String(cString: strerror(errno)))")
        }
    }

    /// Reads a file whole.
    ///
    /// - Throws: a `Fault` when it cannot be read, is no regular file, is longer than
    ///   `maximumBytes`, or everybody may write it.
    public init(path: String, maximumBytes: Int) throws(Fault) {
        // Before it is opened, which for some devices does something.
        try Self.check(try FileStamp(of: path), maximumBytes)
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { throw Fault(errno: errno) }
        defer { close(file) }
        let before = try FileStamp(of: file)
        try Self.check(before, maximumBytes)
        bytes = try Self.contents(of: file, maximumBytes)
        let after = try FileStamp(of: file)
        stamp = before.isSettled && before == after ? before : nil
    }

    private static func check(_ stamp: FileStamp, _ maximumBytes: Int) throws(Fault) {
        guard stamp.mode & S_IFMT == S_IFREG else { throw Fault("it is no regular file") }
        guard stamp.size <= maximumBytes else { throw tooLong(maximumBytes) }
        guard stamp.mode & S_IWOTH == 0 else {
            let mode = String(stamp.mode & 0o7777, radix: 8)
            throw Fault("everybody may write it (mode \(mode)): take that away with chmod o-w")
        }
    }

    private static func tooLong(_ maximumBytes: Int) -> Fault {
        Fault("it is longer than \(maximumBytes) bytes")
    }

    private static func contents(
        of file: Int32, _ maximumBytes: Int
    ) throws(Fault) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(file, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Fault(errno: errno) }
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= maximumBytes else { throw tooLong(maximumBytes) }
        }
    }
}

/// What tells that a file is another than it was, or has been changed.
///
/// The time of the latest change of its status is part of it: other than the time of its content,
/// which a copy may keep, nobody can set it back.
public struct FileStamp: Equatable, Sendable {
    fileprivate let mode: mode_t
    fileprivate let size: Int
    private let device: dev_t
    private let node: ino_t
    private let owner: [UInt32]
    private let changed: [Int]

    /// The stamp of the file that a path leads to, links followed; the file is not opened.
    ///
    /// - Throws: a `Fault` when there is none, or it cannot be reached.
    public init(of path: String) throws(TrustedFile.Fault) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw TrustedFile.Fault(errno: errno) }
        self.init(status)
    }

    fileprivate init(of file: Int32) throws(TrustedFile.Fault) {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw TrustedFile.Fault(errno: errno) }
        self.init(status)
    }

    private init(_ status: stat) {
        mode = status.st_mode
        size = Int(status.st_size)
        (device, node) = (status.st_dev, status.st_ino)
        owner = [status.st_uid, status.st_gid]
        changed = [
            status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
            status.st_ctim.tv_nsec,
        ]
    }

    /// Longer than any step in which a file system counts time; milliseconds.
    private static let settlingMilliseconds: Int64 = 100

    /// Whether a change from now on gives another stamp.
    fileprivate var isSettled: Bool {
        let changedMilliseconds = Int64(changed[2]) * 1_000 + Int64(changed[3]) / 1_000_000
        return changedMilliseconds + Self.settlingMilliseconds < wallMilliseconds()
    }
}
