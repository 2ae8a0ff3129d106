import HTTPTypes
import WebExchange

/// `Authorization`: the scheme in lower case, and what follows it; nil without both.
func authorization(in headers: HTTPFields) -> (scheme: String, value: String)? {
    guard let field = headers[.authorization] else { return nil }
    let parts = field.utf8.split(separator: 0x20, maxSplits: 1).map(Substring.init)
    return parts.count == 2 ? (parts[0].lowercased(), parts[1].trimmed) : nil
}

/// The token of `Authorization`: a bearer's, or the password of a user of any name.
func token(in headers: HTTPFields) -> String? {
    guard headers[.authorization] != nil else { return nil }
    switch authorization(in: headers) {
    case ("bearer", let value)?: return value
    case ("basic", let value)?:
        guard let bytes = Base64.decode(value),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        else { return "" }
        return String(decoding: bytes[(colon + 1)...], as: UTF8.self)
    default: return ""
    }
}

/// The cookie that carries a session. Where the browser sees HTTPS, its name is one that no other host
/// and no page without HTTPS can set (RFC 6265bis, 4.1.3.2).
struct SessionCookie: Sendable {
    private let isSecure: Bool
    private let name: String

    init(isSecure: Bool) {
        self.isSecure = isSecure
        name = isSecure ? "__Host-geobucket" : "geobucket"
    }

    /// The value of `Set-Cookie`.
    func text(_ session: String, seconds: Int64) -> String {
        "\(name)=\(session); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Strict"
            + (isSecure ? "; Secure" : "")
    }

    /// The session of a request.
    func session(in headers: HTTPFields) -> String? {
        let start = Array("\(name)=".utf8)
        for cookies in headers[values: .cookie] {
            for cookie in cookies.utf8.split(separator: UInt8(ascii: ";")) {
                let cookie = cookie.drop { $0 == 0x20 || $0 == 0x09 }
                guard cookie.starts(with: start) else { continue }
                let session = Substring(cookie.dropFirst(start.count)).trimmed
                if !session.isEmpty { return session }
            }
        }
        return nil
    }
}
