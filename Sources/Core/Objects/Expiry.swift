/// What a write says about the time from which on its objects are gone.
public enum Expiry: Sendable, Equatable {
    /// As it was; a new object stays.
    case unchanged
    case never
    /// Milliseconds since 1970-01-01T00:00:00Z; from that one on the object is not there any more.
    case at(Int64)

    /// What becomes of an object's present time.
    public func applied(to present: Int64?) -> Int64? {
        switch self {
        case .unchanged: present
        case .never: nil
        case .at(let time): time
        }
    }
}
