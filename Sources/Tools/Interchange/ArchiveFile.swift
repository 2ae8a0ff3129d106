import Archives
import JSONText

/// An NSKeyedArchiver file being read as records, plain or gzipped.
///
/// - Complexity: the whole file, and its objects, in memory.
public final class ArchiveFile: RecordSource {
    /// Records are numbered by their places among the archive's objects, from 1.
    public let recordName = "object"
    /// Bytes of the file as it lies on disk; nil for a pipe.
    public let totalBytes: Int?
    /// All of the file's bytes, as it has been read whole; 0 for a pipe.
    public var consumedBytes: Int { totalBytes ?? 0 }
    private let records: ArchivedRecords
    private let validator: RecordValidator
    private let stripsUnderscores: Bool
    private var index = 0

    /// Reads a path, or standard input for `-`.
    ///
    /// - Throws: what cannot be read, and why it is no archive.
    public init(
        path: String, options: ArchivedRecords.Options,
        reading: ReadingOptions = ReadingOptions()
    ) throws(InterchangeError) {
        let source = try ByteSource(path: path)
        totalBytes = source.totalBytes
        let bytes = try source.all(atMost: options.archive.limits.fileBytes)
        do throws(ArchiveFailure) {
            records = try ArchivedRecords(bytes, options: options)
        } catch {
            throw InterchangeError(error.description)
        }
        validator = RecordValidator(limits: reading.limits)
        stripsUnderscores = options.stripsUnderscores
    }

    public func next() throws(InterchangeError) -> Record? {
        guard index < records.count else { return nil }
        index += 1
        return Record(number: index, result: result(index - 1))
    }

    private func result(_ index: Int) -> Result<[UInt8], RecordError> {
        do throws(ArchiveFailure) {
            let text = try records.document(at: index).utf8
            do throws(RecordError) {
                _ = try text.withUnsafeBufferPointer { text throws(RecordError) in
                    _ = try validator.validate(text)
                }
                return .success(text)
            } catch {
                return .failure(hinting(error))
            }
        } catch {
            return .failure(RecordError(error.message, path: error.path))
        }
    }

    /// A name that the service refuses is one that the flag makes good.
    private func hinting(_ error: RecordError) -> RecordError {
        guard !stripsUnderscores, error.path?.hasPrefix("_") == true else { return error }
        return RecordError(
            error.message + "; --strip-underscores takes the underscores off", path: error.path)
    }
}
