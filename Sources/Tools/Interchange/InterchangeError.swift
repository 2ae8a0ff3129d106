/// Why a file, or a word of the command line, cannot be used: a sentence for the person who gave
/// it. What is wrong with one record of a file is a `RecordError` and does not end the reading.
public struct InterchangeError: Error, Sendable, Hashable, CustomStringConvertible {
    public let message: String

    public init(_ message: String) { self.message = message }

    public var description: String { message }
}
