// The part of signed tokens that uses jwt-kit, which the package trait JWT adds.

#if JWT
    import JWTKit

    /// A public key that verifies signatures of one algorithm.
    struct VerifyingKey: Sendable {
        static let isAvailable = true

        /// Its id in the key set.
        let id: String
        private let algorithm: any JWTAlgorithm

        /// - Parameter text: a JWK (RFC 7517). The result is nil when it has no `kid` or is of an
        ///   unknown kind.
        init?(jwk text: [UInt8]) async {
            guard var jwk = try? JWK(json: String(decoding: text, as: UTF8.self)),
                let id = jwk.keyIdentifier
            else { return nil }
            jwk.algorithm = jwk.algorithm ?? Self.usualAlgorithm(of: jwk)
            guard let keys = try? await JWTKeyCollection().add(jwk: jwk),
                let algorithm = try? await keys.getKey(for: id)
            else { return nil }
            self.id = id.string
            self.algorithm = algorithm
        }

        /// The algorithm of a key that names none.
        private static func usualAlgorithm(of jwk: JWK) -> JWK.Algorithm? {
            switch (jwk.keyType, jwk.curve?.rawValue) {
            case (.rsa, _): .rs256
            case (.octetKeyPair, _): .eddsa
            case (.ecdsa, "P-256"): .es256
            case (.ecdsa, "P-384"): .es384
            case (.ecdsa, "P-521"): .es512
            default: nil
            }
        }

        /// The algorithm's name (RFC 7518).
        var algorithmName: String { algorithm.name }

        func accepts(_ signature: [UInt8], of signed: [UInt8]) -> Bool {
            (try? algorithm.verify(signature, signs: signed)) == true
        }
    }
#else
    /// A build without the trait has no signed tokens, so there is never a key.
    struct VerifyingKey: Sendable {
        static let isAvailable = false

        let id = ""
        let algorithmName = ""

        init?(jwk text: [UInt8]) async { return nil }

        func accepts(_ signature: [UInt8], of signed: [UInt8]) -> Bool { false }
    }
#endif
