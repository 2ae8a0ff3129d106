import Objects

/// A line, or a request of a batch, that is too long to parse on the event loop. A worker thread
/// parses it and reads its params.
package struct LongText: Sendable {
    /// Texts of up to this many bytes are parsed on the event loop: some tens of microseconds.
    package static let shortBytes = 32 * 1_024

    package let bytes: ArraySlice<UInt8>
    /// Whether the text is a request of a batch; batches do not nest.
    package let isElement: Bool
    /// Whether its request has been admitted.
    package let isAdmitted: Bool

    package init(_ bytes: ArraySlice<UInt8>, isElement: Bool = false, isAdmitted: Bool = false) {
        self.bytes = bytes
        self.isElement = isElement
        self.isAdmitted = isAdmitted
    }
}
