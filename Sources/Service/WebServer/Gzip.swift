import CZlib
import WebExchange

/// gzip of a body (RFC 1952), piece by piece.
///
///     var gzip = Gzip()
///     let sent = gzip.compress(first) + gzip.compress(second) + gzip.end()
///
/// No piece refers to those before it, so nothing is kept between two but a checksum.
struct Gzip: Sendable {
    private var checksum = crc32(0, nil, 0)
    private var length: UInt32 = 0
    private var hasBegun = false

    private static let header: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]
    /// The last block of a stream, which is empty.
    private static let lastBlock: [UInt8] = [3, 0]
    /// A window of 32 KiB; negative: no header and no trailer of zlib's.
    private static let window: Int32 = -15

    /// A piece of the body, compressed.
    mutating func compress(_ piece: some Collection<UInt8>) -> [UInt8] {
        let start = hasBegun ? [] : Self.header
        hasBegun = true
        let bytes = piece.withContiguousStorageIfAvailable { deflate($0) }
        return start + (bytes ?? Array(piece).withUnsafeBufferPointer { deflate($0) })
    }

    private mutating func deflate(_ piece: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        guard piece.count > 0 else { return [] }
        checksum = crc32(checksum, piece.baseAddress, UInt32(piece.count))
        length &+= UInt32(truncatingIfNeeded: piece.count)
        var stream = z_stream()
        let status = deflateInit2_(
            &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, Self.window, 8, Z_DEFAULT_STRATEGY,
            ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        precondition(status == Z_OK, "there is no memory to compress in")
        defer { deflateEnd(&stream) }
        stream.next_in = UnsafeMutablePointer(mutating: piece.baseAddress)
        stream.avail_in = UInt32(piece.count)
        // What the end of a piece takes besides.
        let most = Int(deflateBound(&stream, UInt(piece.count))) + 16
        return [UInt8](unsafeUninitializedCapacity: most) { buffer, count in
            stream.next_out = buffer.baseAddress
            stream.avail_out = UInt32(most)
            let status = CZlib.deflate(&stream, Z_SYNC_FLUSH)
            precondition(status == Z_OK && stream.avail_in == 0, "zlib wants more room")
            count = most - Int(stream.avail_out)
        }
    }

    /// The end of the body.
    mutating func end() -> [UInt8] {
        func littleEndian(_ number: UInt32) -> [UInt8] {
            (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        }
        return (hasBegun ? [] : Self.header) + Self.lastBlock
            + littleEndian(UInt32(truncatingIfNeeded: checksum)) + littleEndian(length)
    }

    /// A whole body, compressed.
    static func compressed(_ body: [UInt8]) -> [UInt8] {
        var gzip = Gzip()
        return gzip.compress(body) + gzip.end()
    }
}

/// What a body in gzip unpacks to, piece by piece and within a limit.
struct Gunzip: ~Copyable {
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    /// Whether the end has come.
    private(set) var isWhole = false

    /// Bytes of memory that one takes.
    static let memoryBytes = 48 * 1_024

    init() {
        stream.initialize(to: z_stream())
        // 16: with the header and trailer of gzip.
        let status = inflateInit2_(
            stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        precondition(status == Z_OK, "there is no memory to unpack in")
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Appends what a piece unpacks to.
    ///
    /// - Parameter check: called with the length of the body before it grows to that.
    /// - Throws: 400 for bytes that are no gzip, or stand behind its end; and what `check` throws.
    mutating func unpack(
        _ piece: UnsafeRawBufferPointer, into body: inout [UInt8],
        _ check: (Int) throws(WebFailure) -> Void
    ) throws(WebFailure) {
        stream.pointee.next_in = UnsafeMutablePointer(
            mutating: piece.assumingMemoryBound(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(piece.count)
        while stream.pointee.avail_in > 0 {
            guard !isWhole else {
                throw Self.fault("there are bytes behind the end of the gzip")
            }
            var status = Z_OK
            let part = [UInt8](unsafeUninitializedCapacity: Self.partBytes) { buffer, count in
                stream.pointee.next_out = buffer.baseAddress
                stream.pointee.avail_out = UInt32(Self.partBytes)
                status = inflate(stream, Z_NO_FLUSH)
                count = Self.partBytes - Int(stream.pointee.avail_out)
            }
            guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else {
                throw Self.fault("the body is no valid gzip, as Content-Encoding says")
            }
            try check(body.count + part.count)
            body += part
            isWhole = status == Z_STREAM_END
        }
    }

    private static let partBytes = 16 * 1_024

    static func fault(_ message: String) -> WebFailure {
        WebFailure(.badRequest, "INVALID_REQUEST", message)
    }
}
