import Digests
import JSONText

/// A bearer token: a public id for lookup, and a secret of 256 bits.
///
///     gbt_3f9a2c11d04e_8Hq…   // "gbt", 12 hexadecimal digits, 43 of base64url
public struct Token: Sendable {
    /// Identifies the token in the tokens file; not secret.
    public let id: String
    /// The whole token with its secret, as clients present it.
    public let text: String

    /// A new token from the system's random numbers.
    public init() {
        var random = SystemRandomNumberGenerator()
        self.init(from: &random)
    }

    /// A new token, all of it from random numbers of a source.
    init(from random: inout some RandomNumberGenerator) {
        let bytes = (0..<38).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        id = hexadecimal(bytes[..<6])
        text = "gbt_\(id)_" + Base64URL.encode(Array(bytes[6...]))
    }

    /// Parses a presented token; nil when it is malformed.
    init?(_ text: String) {
        let parts = text.split(separator: "_", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "gbt", text.utf8.count <= 200 else { return nil }
        id = String(parts[1])
        self.text = text
    }

    /// The id if it has the form of one. What else stands in its place may be a secret that somebody
    /// has typed wrongly.
    var publicID: String? {
        id.utf8.count == 12 && id.utf8.allSatisfy { Self.digits.contains($0) } ? id : nil
    }

    private static let digits = Array("0123456789abcdef".utf8)

    /// What the tokens file stores. The secret is random, so a slow hash would add nothing.
    public var digest: TokenDigest {
        TokenDigest(bytes: SHA256.digest(of: Array(text.utf8)))
    }
}

/// SHA-256 of a token; compared in constant time.
public struct TokenDigest: Sendable, Equatable {
    let bytes: [UInt8]

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Nil unless it is 64 hexadecimal digits.
    init?(hexadecimal text: String) {
        let digits = text.compactMap(\.hexDigitValue)
        guard text.count == 64, digits.count == 64 else { return nil }
        bytes = stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    var text: String { hexadecimal(bytes[...]) }

    /// Constant time: it does not depend on where the two differ.
    public static func == (a: TokenDigest, b: TokenDigest) -> Bool {
        areEqualInConstantTime(a.bytes[...], b.bytes[...])
    }
}

private func hexadecimal(_ bytes: ArraySlice<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
        decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}
