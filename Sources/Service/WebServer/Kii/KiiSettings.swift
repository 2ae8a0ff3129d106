import Digests
import ServiceDesk

/// The application that a Kii client names, and what clients without a login may do.
public struct KiiSettings: Sendable {
    /// The application's id, in every path.
    public var app: String
    /// The application's key; nil asks clients for none.
    public var key: String?
    /// What clients without a login may do; nil: what they may on the line port.
    public var anonymous: AnonymousAccess?

    /// Settings without a key, with the line port's rules for clients without a login.
    public init(app: String, key: String? = nil, anonymous: AnonymousAccess? = nil) {
        (self.app, self.key, self.anonymous) = (app, key, anonymous)
    }

    /// Whether a text can be the id of an application: letters, digits, `-`, `_` and `.`, as they
    /// stand in a path and in a media type.
    public static func isID(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { unit in
                switch unit {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    /// Whether a text is the application's id, in a time that does not depend on the text.
    func isApp(_ text: String) -> Bool { Self.areEqual(text, app) }

    /// Whether a text is the application's key, in a time that does not depend on the text. Every
    /// text is, if there is no key.
    func isKey(_ text: String) -> Bool { key.map { Self.areEqual(text, $0) } ?? true }

    private static func areEqual(_ a: String, _ b: String) -> Bool {
        areEqualInConstantTime(
            SHA256.digest(of: Array(a.utf8))[...], SHA256.digest(of: Array(b.utf8))[...])
    }
}
