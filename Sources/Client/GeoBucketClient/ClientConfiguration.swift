import Logging

/// How a client connects, retries and limits its calls.
public struct ClientConfiguration: Sendable {
    /// How long one attempt to connect may take, TLS included.
    public var connectTimeout = Duration.seconds(10)
    /// How long a call may take in total, reconnecting and waiting included.
    public var requestTimeout = Duration.seconds(30)
    /// How long a call is retried, from the loss of its connection, or from the beginning of the
    /// first attempt to connect that failed; zero: never.
    public var retryTime = Duration.seconds(15)
    /// Pauses between attempts: the first up to this long, each next up to twice as long.
    public var firstPause = Duration.milliseconds(50)
    /// The longest that a pause between attempts grows to.
    public var longestPause = Duration.seconds(2)
    /// How often a watch asks whether its connection still works: a network can vanish without a word.
    public var watchCheckTime = Duration.seconds(45)
    /// Whether writes of objects and buckets carry a request key, by which the service recognises a
    /// repeat for 24 hours, so that they can be retried like reads. `ServiceClient.call` adds none.
    public var usesRequestKeys = false
    /// How the connection is secured; nil means without TLS.
    public var tls: ClientTLS?
    /// The token for `auth.login` on every new connection.
    public var token: String?
    /// Characters of an object's minified JSON, its escapes resolved; an object with more is refused
    /// before it is sent.
    public var objectCharacters = 65_534
    /// Bytes of an object's minified JSON; an object with more is refused before it is sent.
    public var objectBytes = 4 * 65_534
    /// Logs what happens to connections; never tokens or documents.
    public var logger = Logger(label: "geobucket.client") { _ in SwiftLogNoOpLogHandler() }

    /// The values that the properties begin with: no TLS, no token, no log.
    public init() {}

    /// The pause before an attempt, with jitter so that many clients do not come back at once.
    func pause<Generator: RandomNumberGenerator>(
        beforeRetry retry: Int, using random: inout Generator
    ) -> Duration {
        let ceiling = min(firstPause * (1 << min(retry - 1, 20)), longestPause)
        return ceiling * Double.random(in: 0.5...1, using: &random)
    }
}
