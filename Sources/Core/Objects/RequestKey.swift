/// An idempotency key for one write. A repeat of that write under the same key is not performed
/// again, but answered as the first was.
public struct RequestKey: Sendable, Equatable {
    /// 1 to `Limits.requestKeyBytes` bytes.
    public let text: String
    /// The method's name and its params as minified JSON, which identify a repeat.
    public let request: [UInt8]

    /// A key that a client gave with a request; its length has been checked.
    public init(text: String, request: [UInt8]) {
        self.text = text
        self.request = request
    }

    /// The same for one principal: the key of another principal is another key.
    public func owned(by principal: String?) -> RequestKey {
        guard let principal else { return self }
        return RequestKey(text: "\(principal)/\(text)", request: request)
    }
}
