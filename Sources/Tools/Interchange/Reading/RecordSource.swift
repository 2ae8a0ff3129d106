/// A source of records that reports its progress.
public protocol RecordSource: AnyObject {
    /// What records are called in messages: `line`, `feature`, `object`.
    var recordName: String { get }
    /// Bytes consumed so far, as stored on disk; for a pipe, the bytes read from it.
    var consumedBytes: Int { get }
    /// The size of the file on disk in bytes; nil for a pipe.
    var totalBytes: Int? { get }
    /// Whether `next` will wait for whoever writes the records. It may be false all the same.
    var isWaiting: Bool { get }
    /// What the summary of a load says besides numbers of records, such as what was left out.
    var note: String? { get }
    /// The first lines of a file of rejected records: a table's header.
    var head: [UInt8] { get }

    /// The next record, or nil at the end.
    func next() throws(InterchangeError) -> Record?
}

extension RecordSource {
    /// False, for sources that never wait.
    public var isWaiting: Bool { false }
    /// Nil, for sources that leave nothing out.
    public var note: String? { nil }
    /// Nothing, for sources whose records stand alone.
    public var head: [UInt8] { [] }
}
