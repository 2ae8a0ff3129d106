import Archives

/// The objects of an archive or property list.
struct ArchivedReader: RecordReader {
    private let records: ArchivedRecords
    /// What leaves out a reference back to an object around it.
    private let flag: String
    private var index = 0

    /// - Throws: for bytes that are no archive; the message says why.
    init(
        _ bytes: [UInt8], _ options: ArchivedRecords.Options, flag: String
    ) throws(InterchangeError) {
        self.flag = flag
        do throws(ArchiveFailure) {
            records = try ArchivedRecords(bytes, options: options)
        } catch {
            throw InterchangeError(error.description + Self.hint(at: error, flag))
        }
    }

    var note: String? {
        let count = records.cutReferences
        return count == 0 ? nil : "\(count) references back left out"
    }

    mutating func next() -> RawRecord? {
        guard index < records.count else { return nil }
        index += 1
        do throws(ArchiveFailure) {
            let text = try records.document(at: index - 1).utf8
            return RawRecord(number: index, result: .success(text))
        } catch {
            let message = error.message + Self.hint(at: error, flag)
            return RawRecord(
                number: index, result: .failure(RecordError(message, path: error.path)))
        }
    }

    private static func hint(at error: ArchiveFailure, _ flag: String) -> String {
        error.isReferenceBack ? "; \(flag) leaves such members out" : ""
    }
}
