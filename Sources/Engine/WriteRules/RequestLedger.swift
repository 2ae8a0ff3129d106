/// A write that was done under a key of its client's.
public struct RememberedRequest: Sendable, Equatable {
    /// For so long it is remembered.
    public static let milliseconds: Int64 = 24 * 3_600_000

    /// When it was done, in milliseconds since 1970.
    public let time: Int64
    /// Of what was asked.
    public let digest: [UInt8]
    /// What it was answered, as JSON in UTF-8.
    public let answer: [UInt8]

    /// Stores its arguments; the time is milliseconds since 1970.
    public init(time: Int64, digest: [UInt8], answer: [UInt8]) {
        self.time = time
        self.digest = digest
        self.answer = answer
    }
}

/// Where a store keeps the writes that were done under a key, in the order in which they were.
public protocol RequestLedger: AnyObject {
    func request(key: String) throws -> RememberedRequest?

    /// Remembers a request; an older one of the same key is forgotten.
    func remember(_ request: RememberedRequest, key: String) throws

    /// How many requests are remembered, or some more: those between the oldest and the latest.
    func requestCount() throws -> Int

    /// When the oldest one was done, in milliseconds since 1970.
    func oldestRequestTime() throws -> Int64?

    /// Forgets the oldest requests, some at most, as far as they are not from after a time in
    /// milliseconds since 1970.
    func deleteRequests(until time: Int64, atMost count: Int) throws
}
