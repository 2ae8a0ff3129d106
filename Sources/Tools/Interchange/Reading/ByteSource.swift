import CZlib
import Glibc

/// The bytes of a file or of standard input, decompressed if they are gzip or the one file of a zip.
///
///     let source = try ByteSource(path: "cities.ndjson.gz")     // "-": standard input
///
/// gzip is recognised by its first two bytes, not by the name; consecutive members form one text.
public final class ByteSource {
    /// The size of the file on disk in bytes; nil for a pipe or a terminal.
    public let totalBytes: Int?
    private let descriptor: Int32
    /// Where the bytes begin in the file.
    private let beginning: Int
    /// The file of a zip that is read.
    let zipped: ZipEntry?
    /// Bytes read from the file so far.
    private var takenBytes = 0
    /// Holds `start..<end`, the bytes read and neither delivered nor decompressed.
    private let input: UnsafeMutablePointer<UInt8>
    private var start = 0
    private var end = 0
    private var hasBegun = false
    /// The decompression of gzip or zip; nil for anything else.
    private var inflation: UnsafeMutablePointer<z_stream>?
    /// Whether a member of the gzip has ended.
    private var isBetweenMembers = false
    /// Whether the decompression may have more bytes without more input.
    private var hasOutput = false
    /// The CRC-32 of what has been delivered of a zip.
    private var checkSum: UInt = 0

    private static let inputBytes = 65_536

    /// Opens a path, or standard input for `-`.
    ///
    /// - Throws: for a missing file, missing permission, or a directory; messages do not name the
    ///   source.
    public init(path: String) throws(InterchangeError) {
        let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw InterchangeError("cannot be opened: \(Self.reason(errno))")
        }
        do throws(InterchangeError) {
            var status = stat()
            guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
                throw InterchangeError("is a directory")
            }
            let isFile = status.st_mode & S_IFMT == S_IFREG
            totalBytes = isFile ? Int(status.st_size) : nil
            zipped = isFile ? try ZipEntry.find(in: descriptor) : nil
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        beginning = zipped?.offset ?? max(lseek(descriptor, 0, SEEK_CUR), 0)
        lseek(descriptor, beginning, SEEK_SET)
        input = .allocate(capacity: Self.inputBytes)
    }

    deinit {
        endInflation()
        input.deallocate()
        close(descriptor)
    }

    private func endInflation() {
        guard let inflation else { return }
        inflateEnd(inflation)
        inflation.deallocate()
        self.inflation = nil
    }

    /// Begins anew with the first byte. Only a file can.
    func rewind() {
        precondition(totalBytes != nil, "a pipe has no beginning any more")
        lseek(descriptor, beginning, SEEK_SET)
        endInflation()
        (takenBytes, start, end, checkSum) = (0, 0, 0, 0)
        (hasBegun, isBetweenMembers, hasOutput) = (false, false, false)
    }

    /// Bytes consumed so far, as stored on disk or sent through the pipe.
    public var consumedBytes: Int { takenBytes - (end - start) }

    /// Whether `read` may wait, because nobody has written more into the pipe yet.
    var isDry: Bool { isDry(afterMilliseconds: 0) }

    /// Whether nobody writes more into the pipe for so long.
    func isDry(afterMilliseconds patience: Int32) -> Bool {
        guard totalBytes == nil else { return false }
        var file = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&file, 1, patience) == 0
    }

    /// Reads the bytes that are there, at most as many as the buffer takes; waits only if there are
    /// none. 0 means the end.
    ///
    /// - Throws: for corrupt or truncated gzip, for text behind it, and for errors of the file
    ///   system. A truncated stream, and a file of a zip that is damaged, fail only after their last
    ///   byte.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(InterchangeError) -> Int {
        let count = try content(into: buffer)
        if let zipped { try check(zipped, buffer, count) }
        return count
    }

    private func check(
        _ entry: ZipEntry, _ buffer: UnsafeMutableRawBufferPointer, _ count: Int
    ) throws(InterchangeError) {
        let bytes = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
        if count > 0 {
            checkSum = crc32(checkSum, bytes, UInt32(count))
        } else if checkSum != UInt(entry.checkSum) {
            throw InterchangeError(
                "is a zip whose file \(entry.name) is damaged: its check sum is wrong")
        }
    }

    private func content(
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(InterchangeError) -> Int {
        if !hasBegun {
            hasBegun = true
            var isPacked = zipped?.isCompressed ?? false
            if zipped == nil { isPacked = try fill(atLeast: 2) && isGzip }
            if isPacked { inflation = try Self.inflation(isZip: zipped != nil) }
        }
        if let inflation { return try decompress(inflation, into: buffer) }
        guard start < end else { return try take(into: buffer) }
        let count = min(end - start, buffer.count)
        buffer.copyMemory(from: UnsafeRawBufferPointer(start: input + start, count: count))
        start += count
        return count
    }

    /// All bytes up to the end.
    ///
    /// - Parameter head: bytes that have been read before, and are counted.
    /// - Throws: also when there are more than `limit` bytes.
    func all(atMost limit: Int, behind head: [UInt8] = []) throws(InterchangeError) -> [UInt8] {
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 1)
        defer { chunk.deallocate() }
        var bytes = head
        while true {
            let count = try read(into: chunk)
            guard count > 0 else { return bytes }
            guard bytes.count + count <= limit else {
                throw InterchangeError("has more than \(limit) bytes")
            }
            bytes += chunk[..<count]
        }
    }

    // MARK: Input

    /// Reads on until there are so many bytes of input; false if the file ends before.
    private func fill(atLeast count: Int) throws(InterchangeError) -> Bool {
        while end - start < count {
            memmove(input, input + start, end - start)
            (start, end) = (0, end - start)
            let room = UnsafeMutableRawBufferPointer(
                start: input + end, count: Self.inputBytes - end)
            let found = try take(into: room)
            guard found > 0 else { return false }
            end += found
        }
        return true
    }

    /// Reads from the file, past the input.
    private func take(into buffer: UnsafeMutableRawBufferPointer) throws(InterchangeError) -> Int {
        // Behind a stored file of a zip others may follow.
        let rest = zipped.flatMap { $0.isCompressed ? nil : $0.storedBytes - takenBytes }
        let most = min(buffer.count, rest ?? .max)
        while true {
            let count = Glibc.read(descriptor, buffer.baseAddress, most)
            guard count < 0 else {
                takenBytes += count
                return count
            }
            guard errno == EINTR else {
                throw InterchangeError("cannot be read: \(Self.reason(errno))")
            }
        }
    }

    // MARK: gzip

    /// Whether the input, of at least two bytes, begins like gzip.
    private var isGzip: Bool { input[start] == 0x1F && input[start + 1] == 0x8B }

    private static func inflation(
        isZip: Bool
    ) throws(InterchangeError) -> UnsafeMutablePointer<z_stream> {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // The greatest window: 31 with gzip around it, -15 with nothing.
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit2_(stream, isZip ? -15 : 31, ZLIB_VERSION, size) == Z_OK else {
            stream.deallocate()
            throw InterchangeError("cannot be read: out of memory")
        }
        return stream
    }

    private func decompress(
        _ stream: UnsafeMutablePointer<z_stream>, into buffer: UnsafeMutableRawBufferPointer
    ) throws(InterchangeError) -> Int {
        let room = UInt32(min(buffer.count, 1 << 30))
        while true {
            if isBetweenMembers {
                guard zipped == nil, try beginMember(stream) else { return 0 }
            }
            if !hasOutput, !(try fill(atLeast: 1)) {
                throw InterchangeError("is truncated: its compressed stream ends too early")
            }
            stream.pointee.next_in = input + start
            stream.pointee.avail_in = UInt32(end - start)
            stream.pointee.next_out = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.pointee.avail_out = room
            let code = inflate(stream, Z_NO_FLUSH)
            start = end - Int(stream.pointee.avail_in)
            try Self.check(code)
            isBetweenMembers = code == Z_STREAM_END
            hasOutput = stream.pointee.avail_out == 0 && !isBetweenMembers
            let count = Int(room - stream.pointee.avail_out)
            if count > 0 { return count }
        }
    }

    /// Begins the next member; false at the end of the file.
    private func beginMember(
        _ stream: UnsafeMutablePointer<z_stream>
    ) throws(InterchangeError) -> Bool {
        let hasMore = try fill(atLeast: 2)
        guard start < end else { return false }
        guard hasMore, isGzip else {
            throw InterchangeError("there is text behind the end of the gzip stream")
        }
        inflateReset(stream)
        isBetweenMembers = false
        return true
    }

    /// - Parameter code: what zlib returned; `Z_BUF_ERROR` only says that it needs more input.
    private static func check(_ code: Int32) throws(InterchangeError) {
        switch code {
        case Z_OK, Z_STREAM_END, Z_BUF_ERROR: return
        case Z_MEM_ERROR: throw InterchangeError("cannot be read: out of memory")
        default: throw InterchangeError("is corrupt: its compressed stream does not decompress")
        }
    }

    private static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }
}
