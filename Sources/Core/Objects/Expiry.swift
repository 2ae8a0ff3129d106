/// What a write says about the expiry of its objects.
public enum Expiry: Sendable, Equatable {
    /// Unchanged; a new object does not expire.
    case unchanged
    /// The object does not expire.
    case never
    /// Milliseconds since 1970-01-01T00:00:00Z; from that one on the object no longer exists.
    case at(Int64)

    /// The expiry time of an object after the write.
    public func applied(to present: Int64?) -> Int64? {
        switch self {
        case .unchanged: present
        case .never: nil
        case .at(let time): time
        }
    }
}
