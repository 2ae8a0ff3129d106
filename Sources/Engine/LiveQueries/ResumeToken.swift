import BackendContract
import Digests
import JSONText
import Objects
import QueryLanguage

/// What a client shows to go on where it was: a change of a history. It is bound to bucket and query,
/// and authenticated.
///
/// The base64url encoding of the version, the history's mark (16 bytes), the change (8 bytes) and an
/// HMAC-SHA-256, cut to 16 bytes, over these and what is watched.
struct ResumeToken: Equatable {
    var mark: [UInt8]
    var change: ChangeNumber
}

/// Makes the tokens of one history of a store.
struct ResumeTokenMaker: Sendable {
    let codec: ResumeTokenCodec
    private let history: any StoreHistory

    init(of history: any StoreHistory) {
        codec = ResumeTokenCodec(secret: history.secret)
        self.history = history
    }

    /// - Parameter change: one that is, or was, visible.
    func token(of change: ChangeNumber, for scope: [UInt8]) -> String {
        codec.encode(ResumeToken(mark: history.mark, change: change), for: scope)
    }
}

/// Makes and reads tokens with the secret of a store.
struct ResumeTokenCodec: Sendable {
    private let key: AuthenticationKey

    private static let version: UInt8 = 1
    private static let markBytes = 16
    private static let codeBytes = 16
    private static let bodyBytes = 1 + markBytes + 8

    /// - Parameter secret: that of the store, which authenticates page keys as well.
    init(secret: [UInt8]) {
        // A key of its own, so that nothing else that the secret authenticates is a token.
        key = AuthenticationKey(
            Array("resume tokens of watches".utf8).withUnsafeBufferPointer {
                AuthenticationKey(secret).code(of: $0)
            })
    }

    /// - Parameter scope: what is watched, as `scope(of:)` has it.
    func encode(_ token: ResumeToken, for scope: [UInt8]) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.bodyBytes + max(Self.codeBytes, scope.count))
        bytes.append(Self.version)
        bytes += token.mark
        withUnsafeBytes(of: token.change.bigEndian) { bytes.append(contentsOf: $0) }
        bytes += scope
        let code = code(bytes)
        bytes.removeLast(scope.count)
        bytes += code
        return Base64URL.encode(bytes)
    }

    /// Nil for a text that was not made for this scope.
    func decode(_ text: String, for scope: [UInt8]) -> ResumeToken? {
        guard let bytes = Base64URL.decode(text), bytes.count == Self.bodyBytes + Self.codeBytes,
            bytes[0] == Self.version,
            areEqualInConstantTime(
                code(Array(bytes[..<Self.bodyBytes]) + scope), bytes[Self.bodyBytes...])
        else { return nil }
        return ResumeToken(
            mark: Array(bytes[1...Self.markBytes]),
            change: bytes[(1 + Self.markBytes)..<Self.bodyBytes].reduce(0) {
                $0 << 8 | ChangeNumber($1)
            })
    }

    /// - Parameter message: body and scope. The body has one length, so no two texts run into one.
    private func code(_ message: [UInt8]) -> ArraySlice<UInt8> {
        message.withUnsafeBufferPointer { key.code(of: $0) }.prefix(Self.codeBytes)
    }
}
