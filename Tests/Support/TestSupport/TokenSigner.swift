import Crypto
import JSONText

/// Signs tokens (JWT, RFC 7519) as somebody who has a key would.
public struct TokenSigner: Sendable {
    public let algorithm: String
    public let id: String
    /// The public key as a member of a key set.
    public let jwk: String
    private let signature: @Sendable ([UInt8]) throws -> [UInt8]

    public init(
        algorithm: String, id: String, jwk: String,
        signature: @escaping @Sendable ([UInt8]) throws -> [UInt8]
    ) {
        self.algorithm = algorithm
        self.id = id
        self.jwk = jwk
        self.signature = signature
    }

    /// With a new key on the curve P-256.
    public init(id: String = "k1") {
        let key = P256.Signing.PrivateKey()
        let point = Array(key.publicKey.rawRepresentation)
        let (x, y) = (Base64URL.encode(Array(point[..<32])), Base64URL.encode(Array(point[32...])))
        self.init(
            algorithm: "ES256", id: id,
            jwk: #"{"kty":"EC","crv":"P-256","use":"sig","kid":"\#(id)","x":"\#(x)","y":"\#(y)"}"#
        ) { Array(try key.signature(for: $0).rawRepresentation) }
    }

    /// A key set of this key and others.
    public func keySet(_ others: String...) -> String {
        #"{"keys":[\#((others + [jwk]).joined(separator: ","))]}"#
    }

    /// - Parameter header: instead of the one that belongs to the key.
    public func token(_ claims: String, header: String? = nil) throws -> String {
        let header = header ?? #"{"alg":"\#(algorithm)","kid":"\#(id)","typ":"JWT"}"#
        let signed = [header, claims].map { Base64URL.encode(Array($0.utf8)) }
            .joined(separator: ".")
        return signed + "." + Base64URL.encode(try signature(Array(signed.utf8)))
    }
}
