/// A client's own name for one write: a repeat of that write under the same name is not done again,
/// but answered as it was the first time.
public struct RequestKey: Sendable, Equatable {
    /// 1 to `Limits.requestKeyBytes` bytes.
    public let text: String
    /// The method's name and its params as minified JSON: what makes a repeat the same request.
    public let request: [UInt8]

    public init(text: String, request: [UInt8]) {
        self.text = text
        self.request = request
    }

    /// The same, a principal's own: what others name so is another request.
    public func owned(by principal: String?) -> RequestKey {
        guard let principal else { return self }
        return RequestKey(text: "\(principal)/\(text)", request: request)
    }
}
