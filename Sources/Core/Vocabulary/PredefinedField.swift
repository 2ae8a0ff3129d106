/// The first-level names that the service sets itself.
public enum PredefinedField: String, Sendable, CaseIterable {
    case id = "_id"
    case created = "_created"
    case modified = "_modified"
    case version = "_version"
    case owner = "_owner"
    case dataType = "_dataType"
    case expires = "_expiresAt"
}
