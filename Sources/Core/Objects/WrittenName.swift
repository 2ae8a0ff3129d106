import JSONText

/// The kind of a first-level name in a written document.
enum WrittenName {
    /// The client's own field.
    case user
    /// Predefined, or `_calculated`: dropped, because clients send back what they read.
    case dropped
    /// Any other name that begins with `_`.
    case refused

    init(_ name: UnsafeBufferPointer<UInt8>) {
        guard name.first == UInt8(ascii: "_") else {
            self = .user
            return
        }
        self = Self.known.contains { name.elementsEqualBytes($0) } ? .dropped : .refused
    }

    private static let known =
        (PredefinedField.allCases.map(\.rawValue) + ["_calculated"]).map { Array($0.utf8) }
}
