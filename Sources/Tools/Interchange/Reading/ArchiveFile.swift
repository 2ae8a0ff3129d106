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
    public var note: String? { reader.note }
    private var reader: ArchivedReader
    private let validator: RecordValidator
    private let stripsUnderscores: Bool

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
        reader = try ArchivedReader(bytes, options, flag: "--cut-references")
        validator = RecordValidator(limits: reading.limits)
        stripsUnderscores = options.stripsUnderscores
    }

    public func next() throws(InterchangeError) -> Record? {
        guard let raw = reader.next() else { return nil }
        do throws(RecordError) {
            let text = try raw.result.get()
            let id = try validator.validate(text)["_id"]?.utf8.map(KnownIDs.hash)
            return Record(number: raw.number, result: .success(text), idHash: id)
        } catch {
            return Record(number: raw.number, result: .failure(hinting(error)))
        }
    }

    /// Adds a hint at the flag that corrects a refused name.
    private func hinting(_ error: RecordError) -> RecordError {
        guard !stripsUnderscores, error.path?.hasPrefix("_") == true else { return error }
        return RecordError(
            error.message + "; --strip-underscores takes the underscores off", path: error.path)
    }
}
