/// How much of a file is looked at before its first record is delivered: 10,000 records, or 8 MiB of
/// them, or what a pipe has.
struct SampleLimit {
    private let window: ByteWindow
    private let start: Int
    private let all: Bool
    /// Records so far.
    private(set) var count = 0

    /// Milliseconds after which a pipe has nothing more to look at for the moment.
    static let patience: Int32 = 250
    private static let records = 10_000
    private static let bytes = 8 << 20

    /// - Parameter all: whether all records are looked at.
    init(_ window: ByteWindow, all: Bool) {
        (self.window, self.all, start) = (window, all, window.position)
    }

    /// Counts one more record; false if it is one too many.
    ///
    /// - Parameter hasLine: whether it is there, so that nobody has to write it into the pipe.
    mutating func goOn(hasLine: Bool) -> Bool {
        guard all || count < Self.records && window.position - start < Self.bytes,
            count == 0 || hasLine || !window.source.isDry(afterMilliseconds: Self.patience)
        else { return false }
        count += 1
        return true
    }
}
