/// The condition of a put on the object that it replaces.
public enum WriteCondition: Sendable, Equatable {
    /// The put happens whether there is an object or not.
    case none
    /// No object has the id.
    case absent
    /// The object has this version.
    case version(Int64)
}
