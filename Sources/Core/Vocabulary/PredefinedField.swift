/// The first-level names that the service sets itself.
public enum PredefinedField: String, Sendable, CaseIterable {
    /// The object's id, unique within its bucket.
    case id = "_id"
    /// When the object was created, in milliseconds since 1970.
    case created = "_created"
    /// When the object last changed, in milliseconds since 1970.
    case modified = "_modified"
    /// 1 at creation, one more for each change.
    case version = "_version"
    /// The principal that created the object; absent if nobody was logged in.
    case owner = "_owner"
    /// The client's name for the type of the object; absent if it gave none.
    case dataType = "_dataType"
    /// When the object expires, in milliseconds since 1970; absent if it does not.
    case expires = "_expiresAt"
}
