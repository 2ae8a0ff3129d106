import JSONText
import Synchronization

/// A pool of parsers whose buffers have already grown.
///
/// `@unchecked Sendable`: a parser is either in the list or with the one caller that took it out
/// under the lock.
final class ParserPool: @unchecked Sendable {
    private let lock = Mutex(())
    private var idle: [JSONParser] = []

    func withParser<Result, Failure: Error>(
        _ body: (JSONParser) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let parser = take()
        defer { giveBack(parser) }
        return try body(parser)
    }

    /// Takes a parser. The caller has to give it back.
    func take() -> JSONParser { lock.withLock { _ in idle.popLast() } ?? JSONParser() }

    func giveBack(_ parser: JSONParser) { lock.withLock { _ in idle.append(parser) } }
}
