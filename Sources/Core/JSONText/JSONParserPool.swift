import Synchronization

/// A pool of parsers whose buffers have already grown, for any thread.
///
///     let title = try parsers.withParser { try $0.parse(text)["title"]?.string }
///
/// It keeps as many parsers as have been in use at once, but none with more than `keptBytes` of
/// buffers.
///
/// `@unchecked Sendable`: a parser is either in the list or with the one caller that took it out
/// under the lock.
public final class JSONParserPool: @unchecked Sendable {
    private let lock = Mutex(())
    private var idle: [JSONParser] = []

    /// The most bytes of buffers that a parser has when it is kept: those for about 0.5 MB of text.
    private static let keptBytes = 8 << 20
    /// The most parsers that are kept. More are only used at once when many threads parse.
    private static let keptCount = 32

    /// An empty pool.
    public init() {}

    /// Lends a parser to `body`. What it parses is valid inside only.
    public func withParser<Result, Failure: Error>(
        _ body: (JSONParser) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let parser = take()
        defer { giveBack(parser) }
        return try body(parser)
    }

    /// Takes a parser. The caller has to give it back.
    public func take() -> JSONParser { lock.withLock { _ in idle.popLast() } ?? JSONParser() }

    /// Gives back what `take` returned.
    public func giveBack(_ parser: JSONParser) {
        guard parser.bufferBytes <= Self.keptBytes else { return }
        lock.withLock { _ in
            if idle.count < Self.keptCount { idle.append(parser) }
        }
    }
}
