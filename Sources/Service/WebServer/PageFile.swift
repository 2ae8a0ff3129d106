import CWebFiles
import Glibc
import ServiceDesk
import Synchronization
import WebExchange

/// A file of the pages, of which all answers send one copy.
final class PageFile: Sendable {
    let bytes: [UInt8]
    /// A digest of the bytes.
    let tag: String
    private let packed = Mutex<[UInt8]?>(nil)

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        tag = digest(of: bytes)
    }

    /// The bytes in gzip, which are made once.
    var gzip: [UInt8] {
        packed.withLock { packed in
            let bytes = packed ?? Gzip.compressed(bytes)
            packed = bytes
            return bytes
        }
    }

    /// Bytes of memory that it takes, with its gzip, which is no longer.
    fileprivate var memoryBytes: Int { 2 * bytes.count }

    /// The files that are part of the program, by name.
    static let embedded: [String: PageFile] = {
        let files = UnsafeBufferPointer(start: web_files(), count: web_file_count())
        let pairs = files.map { file in
            let bytes = Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
            return (String(cString: file.name), PageFile(bytes))
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }()
}

/// The files in a folder, each kept as long as it is the same.
final class AssetFiles: Sendable {
    private struct Kept {
        let file: PageFile
        let stamp: FileStamp
    }

    private let folder: String
    private let kept = Mutex<[String: Kept]>([:])

    /// Bytes of the largest file that is served.
    private static let fileBytes = 4 * 1_048_576
    /// Bytes of all files that are kept; above them all are forgotten.
    private static let keptBytes = 16 * 1_048_576

    init(folder: String) { self.folder = folder }

    /// The file at a path below the folder; nil if there is none that is to be served.
    subscript(path: String) -> PageFile? {
        let whole = folder + "/" + path
        guard let stamp = try? FileStamp(of: whole) else { return nil }
        if let known = kept.withLock({ $0[path] }), known.stamp == stamp { return known.file }
        guard let read = try? TrustedFile(path: whole, maximumBytes: Self.fileBytes) else {
            return nil
        }
        let file = PageFile(read.bytes)
        if let stamp = read.stamp { keep(Kept(file: file, stamp: stamp), at: path) }
        return file
    }

    private func keep(_ file: Kept, at path: String) {
        kept.withLock { kept in
            let bytes = kept.values.reduce(file.file.memoryBytes) { $0 + $1.file.memoryBytes }
            if bytes > Self.keptBytes { kept.removeAll() }
            kept[path] = file
        }
    }
}
