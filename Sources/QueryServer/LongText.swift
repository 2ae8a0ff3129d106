import Objects
import Operations
import WireProtocol

/// The text of a line or of a request of a batch that is too much to be looked at on a thread that
/// others wait for: it is parsed, and its params are read, somewhere else.
struct LongText: Sendable {
    /// What a text turns out to be.
    enum Contents: Sendable {
        /// A request whose params have been read, or that was refused.
        case request(Request)
        /// The texts of a batch's requests.
        case batch([ArraySlice<UInt8>])
    }

    /// Texts of so many bytes are looked at where they arrive: some tens of microseconds.
    static let shortBytes = 32 * 1_024

    /// Whether a short text holds so much that its params are to be read somewhere else all the same.
    static func isNeeded(for unread: UnreadRequest) -> Bool {
        guard case .success(let name) = unread.method else { return false }
        return Method[name].isLarge(unread)
    }

    private let bytes: ArraySlice<UInt8>
    /// Whether it is out of a batch already, in which there is no other.
    private let isElement: Bool
    /// Whether its request has been let through.
    private let isAdmitted: Bool

    init(_ bytes: ArraySlice<UInt8>, isElement: Bool = false, isAdmitted: Bool = false) {
        self.bytes = bytes
        self.isElement = isElement
        self.isAdmitted = isAdmitted
    }

    /// - Parameter refusal: asked once for a request, before its params are read.
    func contents(limits: Limits, refusal: (UnreadRequest) -> RPCFailure?) -> Contents {
        let parser = RequestParser(limits: limits)
        let message = bytes.withUnsafeBufferPointer {
            isElement ? .single(parser.parse(element: $0)) : parser.parse($0)
        }
        switch message {
        case .batch(let ranges): return .batch(Self.elements(ranges, of: bytes))
        case .single(let unread):
            if !isAdmitted, let failure = refusal(unread) {
                return .request(Request(refusing: unread, failure))
            }
            return withExtendedLifetime(parser) { .request(Request(reading: unread, limits)) }
        }
    }

    /// The texts of a batch's requests, which share the line.
    static func elements(
        _ ranges: [Range<Int>], of line: ArraySlice<UInt8>
    ) -> [ArraySlice<UInt8>] {
        ranges.map { line[line.startIndex + $0.lowerBound..<line.startIndex + $0.upperBound] }
    }
}
