import Glibc

/// A file of map tiles, a PMTiles archive of version 3, of which clients read parts.
struct TileArchive: Sendable {
    let path: String

    /// The file as it is now.
    ///
    /// - Throws: when it cannot be read or is no regular file.
    func open() throws(Basemap.Fault) -> OpenTileArchive {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            throw Basemap.Fault("it cannot be read: \(String(cString: strerror(errno)))")
        }
        let file = OpenTileArchive(descriptor)
        guard file.isRegular else { throw Basemap.Fault("it is no regular file") }
        return file
    }

    /// Refuses a file that the page cannot show.
    ///
    /// - Returns: the deepest zoom level that has tiles.
    func check() throws(Basemap.Fault) -> Int {
        let header = try open().read(0..<Self.headerBytes)
        guard header.count == Self.headerBytes, header.starts(with: "PMTiles".utf8) else {
            throw Basemap.Fault("it is no PMTiles archive")
        }
        guard header[7] == 3 else {
            throw Basemap.Fault("it is PMTiles of version \(header[7]); expected 3")
        }
        for (part, byte) in [("directories", 97), ("tiles", 98)] {
            let compression = Int(header[byte])
            guard compression == 1 || compression == 2 else {
                let names = ["unknown", "none", "gzip", "brotli", "zstd"]
                let name = compression < names.count ? names[compression] : "\(compression)"
                throw Basemap.Fault(
                    "the compression of its \(part) is \(name); browsers unpack gzip")
            }
        }
        guard (1...5).contains(header[99]) else {
            throw Basemap.Fault(
                "its tiles are of type \(header[99]); expected vectors, PNG, JPEG, WebP or AVIF")
        }
        return min(Int(header[101]), Basemap.deepestZoom)
    }

    private static let headerBytes = 127
}

/// An archive that is open for reading.
///
/// - Note: It closes the file at its end, and reads from several threads do no harm.
final class OpenTileArchive: Sendable {
    private let descriptor: Int32
    /// Bytes of the file.
    let size: Int
    /// Another one for another file, or the same after a change.
    let tag: String
    fileprivate let isRegular: Bool

    fileprivate init(_ descriptor: Int32) {
        self.descriptor = descriptor
        var status = stat()
        let isKnown = fstat(descriptor, &status) == 0
        size = Int(status.st_size)
        isRegular = isKnown && status.st_mode & S_IFMT == S_IFREG
        let parts = [Int(status.st_ino), size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
        tag = parts.map { String($0, radix: 36) }.joined(separator: "-")
    }

    deinit { close(descriptor) }

    /// The bytes of a part, as far as the file has them.
    func read(_ part: Range<Int>) throws(Basemap.Fault) -> [UInt8] {
        var fault: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: part.count) { buffer, count in
            while count < part.count {
                let got = pread(
                    descriptor, buffer.baseAddress! + count, part.count - count,
                    part.lowerBound + count)
                if got < 0, errno == EINTR { continue }
                guard got > 0 else {
                    fault = got < 0 ? errno : 0
                    return
                }
                count += got
            }
        }
        if fault != 0 {
            throw Basemap.Fault("it cannot be read: \(String(cString: strerror(fault)))")
        }
        return bytes
    }
}
