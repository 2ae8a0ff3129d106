import Glibc
import Runtime

/// A file that configures the service, such as tokens, keys and settings, with the contents that it
/// had when it was read.
///
///     let file = try TrustedFile(path: "tokens.json", maximumBytes: 67_108_864)
///
/// Only regular files are read, and only up to a size limit: a pipe would block the reader, and a
/// device would fill the memory. A file that everyone may write is refused, because its writers
/// decide who may log in.
public struct TrustedFile: Sendable {
    /// The contents of the file.
    public let bytes: [UInt8]
    /// Distinguishes the file from any later version. Nil when that is impossible because the file
    /// changed during the read or just before: file systems count time in steps.
    public let stamp: FileStamp?

    /// Why a file is not used, without its path.
    public struct Fault: Error, Equatable, CustomStringConvertible {
        /// The fault, such as `it is no regular file`, to follow the path.
        public let description: String

        init(_ description: String) { self.description = description }

        fileprivate init(errno: Int32) {
            self.init("it cannot be read: \(String(cString: strerror(errno)))")
        }
    }

    /// Reads a whole file.
    ///
    /// - Parameter decidesLogins: whether it says who may log in. Then it has to belong to root or to
    ///   the process's user, and nobody else may replace it.
    /// - Throws: a `Fault` when the file cannot be read, is no regular file, is longer than
    ///   `maximumBytes`, or others may write it.
    public init(path: String, maximumBytes: Int, decidesLogins: Bool = false) throws(Fault) {
        // Check before opening, because opening some devices has an effect.
        try Self.check(try FileStamp(of: path), maximumBytes)
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { throw Fault(errno: errno) }
        defer { close(file) }
        let before = try FileStamp(of: file)
        try Self.check(before, maximumBytes)
        if decidesLogins { try Self.checkOwners(of: path, before) }
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

    private static func checkOwners(of path: String, _ stamp: FileStamp) throws(Fault) {
        let (user, owner) = (geteuid(), stamp.owner[0])
        guard owner == user || owner == 0 else {
            throw Fault(
                "user \(owner) owns it and could log in as anybody: give it to root or to the "
                    + "service's user with chown \(user)")
        }
        // Of a link, who may replace it and who may replace what it leads to.
        guard let target = realpath(path, nil) else { throw Fault(errno: errno) }
        defer { free(target) }
        for file in [path, String(cString: target)] {
            let folder = try FileStamp(of: Self.folder(of: file))
            guard folder.mode & (S_IWGRP | S_IWOTH) == 0 || folder.mode & S_ISVTX != 0 else {
                let mode = String(folder.mode & 0o7777, radix: 8)
                throw Fault(
                    "others may replace it, because they may write its folder (mode \(mode)): "
                        + "take that away with chmod go-w, or set the folder's sticky bit")
            }
        }
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
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

/// Tells whether a file has been replaced or changed.
///
/// It includes the time of the last status change. Unlike the modification time, which a copy may
/// keep, nobody can set that time back.
public struct FileStamp: Equatable, Sendable {
    fileprivate let mode: mode_t
    fileprivate let size: Int
    private let device: dev_t
    private let node: ino_t
    /// User and group.
    fileprivate let owner: [UInt32]
    private let changed: [Int]

    /// The stamp of the file at a path; links are followed, and the file is not opened.
    ///
    /// - Throws: a `Fault` when the file is missing or unreachable.
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

    /// Longer than the time step of any file system; milliseconds.
    private static let settlingMilliseconds: Int64 = 100

    /// Whether any later change results in another stamp.
    fileprivate var isSettled: Bool {
        let changedMilliseconds = Int64(changed[2]) * 1_000 + Int64(changed[3]) / 1_000_000
        return changedMilliseconds + Self.settlingMilliseconds < wallMilliseconds()
    }
}
