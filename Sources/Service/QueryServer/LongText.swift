import Objects

/// The text of a line or of a request of a batch that is too much to be looked at on a thread that
/// others wait for: it is parsed, and its params are read, somewhere else.
struct LongText: Sendable {
    /// Texts of so many bytes are looked at where they arrive: some tens of microseconds.
    static let shortBytes = 32 * 1_024

    let bytes: ArraySlice<UInt8>
    /// Whether it is out of a batch already, in which there is no other.
    let isElement: Bool
    /// Whether its request has been let through.
    let isAdmitted: Bool

    init(_ bytes: ArraySlice<UInt8>, isElement: Bool = false, isAdmitted: Bool = false) {
        self.bytes = bytes
        self.isElement = isElement
        self.isAdmitted = isAdmitted
    }
}
