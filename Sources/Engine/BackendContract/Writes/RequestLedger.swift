/// A write that was done under a client's key.
public struct RememberedRequest: Sendable, Equatable {
    /// The time for which a request is remembered.
    public static let milliseconds: Int64 = 24 * 3_600_000

    /// The time of the write, in milliseconds since 1970.
    public let time: Int64
    /// A digest of the request.
    public let digest: [UInt8]
    /// The answer, as JSON in UTF-8.
    public let answer: [UInt8]

    /// Stores its arguments. The time is in milliseconds since 1970.
    public init(time: Int64, digest: [UInt8], answer: [UInt8]) {
        self.time = time
        self.digest = digest
        self.answer = answer
    }
}

/// The part of a store that keeps the writes done under a key, in the order in which they were
/// done.
public protocol RequestLedger: AnyObject {
    /// The write done under a key, perhaps more than 24 hours ago; nil if none is remembered.
    func request(key: String) throws -> RememberedRequest?

    /// Remembers a request and forgets an older one with the same key.
    func remember(_ request: RememberedRequest, key: String) throws

    /// Whether at least so many requests are remembered, by the numbers of the oldest and the latest:
    /// gaps between them count too.
    func remembers(atLeast count: Int) throws -> Bool

    /// The time of the oldest remembered request, in milliseconds since 1970.
    func oldestRequestTime() throws -> Int64?

    /// Forgets at most `count` of the oldest requests, and only those that are not after `time`, in
    /// milliseconds since 1970.
    func deleteRequests(until time: Int64, atMost count: Int) throws
}
