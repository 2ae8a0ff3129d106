/// Why a file or a command-line argument cannot be used: a message for the user. A fault in one
/// record is a `RecordError` and does not end the reading.
public struct InterchangeError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, for the user to read.
    public let message: String

    /// Whether a flag is at fault, not the file.
    public let isUsage: Bool

    /// Stores its arguments.
    public init(_ message: String, isUsage: Bool = false) {
        (self.message, self.isUsage) = (message, isUsage)
    }

    public var description: String { message }
}
