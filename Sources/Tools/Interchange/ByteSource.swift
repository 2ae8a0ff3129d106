import CZlib
import Glibc

/// The bytes of a file or of standard input, decompressed if they are gzip.
///
///     let source = try ByteSource(path: "cities.ndjson.gz")     // "-": standard input
///
/// gzip is recognised by its first two bytes, not by the name; consecutive members form one text.
public final class ByteSource {
    /// The size of the file on disk in bytes; nil for a pipe or a terminal.
    public let totalBytes: Int?
    private let file: gzFile
    private var deliveredBytes = 0

    /// Opens a path, or standard input for `-`.
    ///
    /// - Throws: for a missing file, missing permission, or a directory; messages do not name the
    ///   source.
    public init(path: String) throws(InterchangeError) {
        let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw InterchangeError("cannot be opened: \(Self.reason(errno))")
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
            close(descriptor)
            throw InterchangeError("is a directory")
        }
        totalBytes = status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
        guard let file = gzdopen(descriptor, "rb") else {
            close(descriptor)
            throw InterchangeError("cannot be read: out of memory")
        }
        gzbuffer(file, 262_144)
        self.file = file
    }

    deinit { gzclose_r(file) }

    /// Bytes consumed so far, as stored on disk; for a pipe, the bytes delivered.
    public var consumedBytes: Int {
        let offset = gzoffset(file)
        return totalBytes == nil || offset < 0 ? deliveredBytes : Int(offset)
    }

    /// Fills the buffer with as many bytes as the source has; 0 means the end.
    ///
    /// - Throws: for corrupt or truncated gzip, and for errors of the file system. A truncated
    ///   stream fails only after its last byte.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(InterchangeError) -> Int {
        let room = UInt32(min(buffer.count, 1 << 30))
        let count = gzread(file, buffer.baseAddress, room)
        if count <= 0 { try checkEnd() }
        deliveredBytes += Int(count)
        return Int(count)
    }

    /// All bytes up to the end.
    ///
    /// - Throws: also when there are more than `limit` bytes.
    func all(atMost limit: Int) throws(InterchangeError) -> [UInt8] {
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 1)
        defer { chunk.deallocate() }
        var bytes: [UInt8] = []
        while true {
            let count = try read(into: chunk)
            guard count > 0 else { return bytes }
            guard bytes.count + count <= limit else {
                throw InterchangeError("has more than \(limit) bytes")
            }
            bytes += chunk[..<count]
        }
    }

    /// After a short read, distinguishes the end of the file from a fault.
    private func checkEnd() throws(InterchangeError) {
        var code: Int32 = Z_OK
        let text = gzerror(file, &code).map { String(cString: $0) } ?? ""
        switch code {
        case Z_OK, Z_STREAM_END: return
        case Z_BUF_ERROR:
            throw InterchangeError("is truncated: its gzip stream ends too early")
        case Z_DATA_ERROR:
            throw InterchangeError("is corrupt: its gzip stream does not decompress")
        case Z_ERRNO: throw InterchangeError("cannot be read: \(Self.reason(errno))")
        default: throw InterchangeError("cannot be read: \(text)")
        }
    }

    private static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }
}
