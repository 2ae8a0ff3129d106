/// One object of a file, or why it is none.
public struct Record: Sendable {
    /// From 1: the physical line on which the record begins; in GeoJSON, the number of the feature.
    public let number: Int
    /// The object's JSON text, valid for writing and on one line; it may have an `_id`.
    public let result: Result<[UInt8], RecordError>

    /// Stores its arguments.
    public init(number: Int, result: Result<[UInt8], RecordError>) {
        self.number = number
        self.result = result
    }
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
public protocol RecordReader {
    /// The next record, or nil at the end.
    ///
    /// - Throws: if the rest of the file cannot be read; a fault of one record is in `Record`.
    mutating func next() throws(InterchangeError) -> Record?
    /// Whether a whole line is there behind the last record. Where records are no lines it is true.
    var hasLine: Bool { get }
}

extension RecordReader {
    /// True, for readers whose records are no lines.
    public var hasLine: Bool { true }
}
