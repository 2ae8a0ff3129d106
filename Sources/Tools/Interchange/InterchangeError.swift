/// Why a file or a command-line argument cannot be used: a message for the user. A fault in one
/// record is a `RecordError` and does not end the reading.
public struct InterchangeError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, for the user to read.
    public let message: String

    /// Stores the message.
    public init(_ message: String) { self.message = message }

    public var description: String { message }
}
