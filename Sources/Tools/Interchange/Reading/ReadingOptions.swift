import Archives
import Objects

/// How records become objects.
public struct ReadingOptions: Sendable {
    /// The same for every format: places, ids, names.
    public var mapping = Mapping()
    /// What is told of a table.
    public var table = TableOptions()
    /// The encoding of the text; nil: it is found out.
    public var encoding: TextEncoding?
    /// The array of a JSON text that has the records, as names with dots between them.
    public var records: String?
    /// How archives are read.
    public var archive = ArchivedRecords.Options()
    /// Records before this one are passed over.
    public var firstRecord = 1
    /// Whether records at fault are skipped, so that one of them does not refuse the file.
    public var skipsErrors = false
    /// Whether records come with their source, as it stands in the file.
    public var keepsSource = false
    /// Whether all records are looked at before the first is delivered, not 10,000 of them.
    public var surveysAll = false
    /// The service's limits, which are checked here before sending.
    public var limits = Limits()
    /// The size limit of one record's text in the file, in bytes, white space included.
    public var recordBytes = 16 * 1_048_576

    /// What is found out, and the service's default limits.
    public init() {}
}
