/// What a put asks of the object it is to replace.
public enum WriteCondition: Sendable, Equatable {
    case none
    /// No object has the id.
    case absent
    /// The object has this version.
    case version(Int64)
}
