import JSONText
import Synchronization

/// Parsers that have grown their buffers, for whoever needs one for a while.
///
/// `@unchecked Sendable`: a parser is in the list or with the one caller that took it out under the
/// lock, never both.
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

    /// A parser that whoever takes it gives back.
    func take() -> JSONParser { lock.withLock { _ in idle.popLast() } ?? JSONParser() }

    func giveBack(_ parser: JSONParser) { lock.withLock { _ in idle.append(parser) } }
}
