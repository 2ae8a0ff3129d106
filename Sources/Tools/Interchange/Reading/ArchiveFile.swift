import Archives
import JSONText

/// Reads an NSKeyedArchiver file as records, plain or gzipped.
///
/// - Complexity: memory for the whole file and its objects.
public final class ArchiveFile: RecordSource {
    /// Records are numbered by their positions among the archive's objects, from 1.
    public let recordName = "object"
    /// The size of the file on disk in bytes; nil for a pipe.
    public let totalBytes: Int?
    /// The size of the file, which has been read whole; 0 for a pipe.
    public var consumedBytes: Int { totalBytes ?? 0 }
    /// How many members were left out because they refer back; nil if none were.
    public var note: String? {
        let count = records.cutReferences
        return count == 0 ? nil : "\(count) references back left out"
    }
    private let records: ArchivedRecords
    private let validator: RecordValidator
    private let stripsUnderscores: Bool
    private var index = 0

    /// Reads a path, or standard input for `-`.
    ///
    /// - Throws: when the file cannot be read or is no archive; the message says why.
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
            throw InterchangeError(error.description + Self.hint(at: error))
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
            return .failure(
                RecordError(error.message + Self.hint(at: error), path: error.path))
        }
    }

    /// The flag that helps against a failure.
    static func hint(at error: ArchiveFailure) -> String {
        error.isReferenceBack ? "; --cut-references leaves such members out" : ""
    }

    /// Adds a hint at the flag that corrects a refused name.
    private func hinting(_ error: RecordError) -> RecordError {
        guard !stripsUnderscores, error.path?.hasPrefix("_") == true else { return error }
        return RecordError(
            error.message + "; --strip-underscores takes the underscores off", path: error.path)
    }
}
