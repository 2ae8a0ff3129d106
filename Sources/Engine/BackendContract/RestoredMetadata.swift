/// What an object had elsewhere, for a write that restores it: its times, its version and its owner.
///
/// A class because few writes have one, and each copy of a write would copy it.
public final class RestoredMetadata: Sendable {
    /// Milliseconds since 1970; nil for the time of the write.
    public let created: Int64?
    /// Milliseconds since 1970; nil for the time of the write.
    public let modified: Int64?
    /// Nil for 1. An object that takes the place of another has a later version than that.
    public let version: Int64?
    /// Nil for an object that belongs to nobody.
    public let owner: String?

    /// Stores its arguments.
    public init(created: Int64?, modified: Int64?, version: Int64?, owner: String?) {
        (self.created, self.modified, self.version, self.owner) = (
            created, modified, version, owner
        )
    }
}
