/// One object of a file, or why it is none.
public struct Record: Sendable {
    /// From 1: the physical line on which the record begins; in GeoJSON, the number of the feature.
    public let number: Int
    /// The object's JSON text, valid for writing and on one line; it may have an `_id`.
    public let result: Result<[UInt8], RecordError>
    /// The hash of the object's `_id`; nil where the service makes it.
    public let idHash: Int?
    /// The record as it came, if the reading keeps it; else empty.
    public let source: [UInt8]

    /// Stores its arguments.
    public init(
        number: Int, result: Result<[UInt8], RecordError>, idHash: Int? = nil,
        source: [UInt8] = []
    ) {
        (self.number, self.result, self.idHash, self.source) = (number, result, idHash, source)
    }
}

/// One record of a file before the mapping.
struct RawRecord {
    let number: Int
    /// JSON text, which need not be valid.
    let result: Result<[UInt8], RecordError>
    /// The record as it came; empty where that is the JSON text.
    var source: [UInt8] = []

    /// The JSON text; nothing for a record at fault.
    var text: [UInt8] { (try? result.get()) ?? [] }
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
    /// What was left out so far; nil for nothing.
    var note: String? { get }
}

extension RecordReader {
    /// True, for readers whose records are no lines.
    var hasLine: Bool { true }
    /// Nil, for readers that leave nothing out.
    var note: String? { nil }
}
