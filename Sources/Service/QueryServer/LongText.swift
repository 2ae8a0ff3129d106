import Objects

/// A line, or a request of a batch, that is too long to parse on the event loop. A worker thread
/// parses it and reads its params.
struct LongText: Sendable {
    /// Texts of up to this many bytes are parsed on the event loop: some tens of microseconds.
    static let shortBytes = 32 * 1_024

    let bytes: ArraySlice<UInt8>
    /// Whether the text is a request of a batch; batches do not nest.
    let isElement: Bool
    /// Whether its request has been admitted.
    let isAdmitted: Bool

    init(_ bytes: ArraySlice<UInt8>, isElement: Bool = false, isAdmitted: Bool = false) {
        self.bytes = bytes
        self.isElement = isElement
        self.isAdmitted = isAdmitted
    }
}
