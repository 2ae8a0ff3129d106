/// One object of a file, or why it is none.
public struct Record: Sendable {
    /// From 1: the physical line on which the record begins; in GeoJSON, the number of the feature.
    public let number: Int
    /// The object's JSON text, valid for writing and on one line; it may have an `_id`.
    public let result: Result<[UInt8], RecordError>
    /// The record as it came, if the reading keeps it; else empty.
    public let source: [UInt8]

    /// Stores its arguments.
    public init(number: Int, result: Result<[UInt8], RecordError>, source: [UInt8] = []) {
        self.number = number
        self.result = result
        self.source = source
    }
}

/// One record of a file before the mapping.
struct RawRecord {
    let number: Int
    /// JSON text, which need not be valid.
    let result: Result<[UInt8], RecordError>
    /// The record as it came; empty where that is the JSON text.
    var source: [UInt8] = []
}

/// How much of a file is looked at before its first record is delivered.
enum SampleSize {
    static let records = 10_000
    static let bytes = 8 << 20
    /// Milliseconds after which a pipe has nothing more to look at for the moment.
    static let patience: Int32 = 250
}

/// What is wrong with one record.
public struct RecordError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, without the path.
    public let message: String
    /// The field or column at fault, such as `location.lat`.
    public let path: String?

    /// Stores its arguments; without a path the whole record is at fault.
    public init(_ message: String, path: String? = nil) {
        self.message = message
        self.path = path
    }

    /// `location.lat: "91" is outside -90...90 degrees`
    public var description: String { path.map { "\($0): \(message)" } ?? message }
}

/// A stream of records; a reader keeps only as much of its file as the current record needs.
protocol RecordReader {
    /// The next record, or nil at the end.
    ///
    /// - Throws: if the rest of the file cannot be read; a fault of one record is in `Record`.
    mutating func next() throws(InterchangeError) -> RawRecord?
    /// Whether a whole line is there behind the last record. Where records are no lines it is true.
    var hasLine: Bool { get }
}

extension RecordReader {
    /// True, for readers whose records are no lines.
    var hasLine: Bool { true }
}
