import Glibc

/// The file of what a load skips. It is made when the first record is skipped.
final class RejectsFile {
    /// What the file begins with.
    var head: [UInt8] = []
    private let path: String
    private var file: UnsafeMutablePointer<FILE>?
    private var hasFailed = false

    /// - Throws: for a path that cannot be written.
    init(_ path: String) throws {
        try Files.checkWritable(path)
        self.path = path
    }

    deinit { if let file { fclose(file) } }

    func write(_ bytes: [UInt8]) {
        if file == nil, !hasFailed {
            file = fopen(path, "we")
            write(whole: head)
        }
        write(whole: bytes)
    }

    private func write(whole bytes: [UInt8]) {
        guard let file, fwrite(bytes, 1, bytes.count, file) == bytes.count else {
            hasFailed = true
            return
        }
    }

    /// - Throws: if not all has been written.
    func close() throws {
        let isClosed = file.map { fclose($0) == 0 } ?? true
        file = nil
        guard isClosed, !hasFailed else {
            throw CommandFailure("\(path) cannot be written: \(String(cString: strerror(errno)))")
        }
    }
}
