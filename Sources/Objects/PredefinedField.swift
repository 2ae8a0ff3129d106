import JSONText

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

/// What a first-level name in a written document is.
enum WrittenName {
    /// The client's own field.
    case user
    /// Predefined, or `_calculated`: clients send back what they read, and it is dropped.
    case dropped
    /// Any other name that begins with `_`.
    case refused

    init(_ name: UnsafeBufferPointer<UInt8>) {
        guard name.first == UInt8(ascii: "_") else {
            self = .user
            return
        }
        let known =
            PredefinedField.allCases.contains { name.elementsEqual($0.rawValue.utf8) }
            || name.elementsEqual("_calculated".utf8)
        self = known ? .dropped : .refused
    }
}
