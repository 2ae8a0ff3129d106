import PlainJSON

/// The kind of a first-level name in a written document.
package enum WrittenName {
    /// The client's own field.
    case user
    /// Predefined, or `_calculated`: dropped, because clients send back what they read.
    case dropped
    /// Any other name that begins with `_`.
    case refused

    package init(_ name: UnsafeBufferPointer<UInt8>) {
        guard name.first == UInt8(ascii: "_") else {
            self = .user
            return
        }
        self = Self.known.contains { name.elementsEqualBytes($0) } ? .dropped : .refused
    }

    private static let known =
        (PredefinedField.allCases.map(\.rawValue) + ["_calculated"]).map { Array($0.utf8) }

    /// Refuses reserved and duplicate first-level names.
    package static func check(_ object: JSONView, at path: String) throws(ServiceFailure) {
        var names = MemberNames(atMost: object.count)
        for member in object.members {
            let name = member.name
            if WrittenName(name) == .refused {
                throw refusal(of: name, at: path) {
                    "\($0): names that begin with '_' are the service's own"
                }
            }
            guard names.enter(name).isNew else {
                throw refusal(of: name, at: path) { "the name \($0) stands here twice" }
            }
        }
    }

    private static func refusal(
        of name: UnsafeBufferPointer<UInt8>, at path: String, _ message: (String) -> String
    ) -> ServiceFailure {
        let text = String(decoding: name, as: UTF8.self)
        return ServiceFailure(
            .invalidInputData, message(quoted(text)), at: "\(path).\(shortened(text))")
    }
}
