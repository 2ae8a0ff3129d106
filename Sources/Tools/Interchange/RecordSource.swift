/// Where records come from, and how far the reading is.
public protocol RecordSource: AnyObject {
    /// What a record's number counts, for messages: `line`, `feature`, `object`.
    var recordName: String { get }
    /// Bytes consumed so far, as they lie on disk; of a pipe, the bytes read from it.
    var consumedBytes: Int { get }
    /// Bytes of the file as it lies on disk; nil for a pipe.
    var totalBytes: Int? { get }

    /// The next record, or nil at the end.
    func next() throws(InterchangeError) -> Record?
}
