/// Why a file is not an archive, or why a value in it cannot be read: a message and a path.
public struct ArchiveFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, for people to read, without the path.
    public let message: String
    /// From the top of the archive, such as `root[3].location`; nil for the file as a whole.
    public let path: String?

    /// A failure at a path from the archive's top; without one, of the file as a whole.
    public init(_ message: String, at path: String? = nil) {
        self.message = message
        self.path = path
    }

    /// Whether the value is an object inside itself, which `KeyedArchive.Options.cutsReferences`
    /// leaves out.
    public var isReferenceBack: Bool { message.hasPrefix(Self.refersBack) }
    static let refersBack = "refers back to "

    /// `root[3].parent: refers back to root[3]`
    public var description: String { path.map { "\($0): \(message)" } ?? message }
}

/// Limits on the cost of an archive, because a file can refer to the same value billions of times.
/// A string counts as one value, plus one for each 64 bytes.
public struct ArchiveLimits: Sendable {
    /// Bytes of the file.
    public var fileBytes = 256 * 1_048_576
    /// Levels of nested containers.
    public var depth = 200
    /// Values read, each counted as often as it is read from the file; also the limit for the
    /// values of all objects together with their references resolved.
    public var values = 10_000_000
    /// Values of one object; shared values count wherever they appear.
    public var objectValues = 100_000

    /// The default limits.
    public init() {}
}
