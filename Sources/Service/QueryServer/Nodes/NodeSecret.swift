import Digests

/// The secret by which the nodes of a cluster know each other. It never crosses the network: each
/// node proves that it has it, by codes of two random texts.
///
///     asking node                                  answering node
///     GEOBUCKET-NODE 1 <a>            ->
///                                     <-           GEOBUCKET-NODE 1 <b>
///     <code of "asks", a, b>          ->
///                                     <-           <code of "answers", a, b>
public struct NodeSecret: Sendable {
    private let key: AuthenticationKey

    /// The fewest bytes of a secret.
    public static let leastBytes = 16

    /// - Parameter text: at least `leastBytes` long.
    public init(_ text: String) { key = AuthenticationKey(Array(text.utf8)) }

    /// What a greeting begins with.
    static let greeting = "GEOBUCKET-NODE 1 "
    /// No line of a greeting is longer.
    static let lineBytes = 128

    enum Role: String {
        case asks, answers
    }

    /// A random text.
    static func nonce() -> String {
        (0..<2).map { _ in
            let digits = String(UInt64.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }.joined()
    }

    /// What a node in a role has to say after both random texts.
    func proof(_ role: Role, _ asking: String, _ answering: String) -> String {
        let code = Array("\(role.rawValue) \(asking) \(answering)".utf8).withUnsafeBufferPointer {
            key.code(of: $0)
        }
        return code.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Whether what a node has said is the proof, in a time that does not tell how much of it.
    func accepts(_ said: String, _ role: Role, _ asking: String, _ answering: String) -> Bool {
        areEqualInConstantTime(
            Array(said.utf8)[...], Array(proof(role, asking, answering).utf8)[...])
    }

    /// The random text in a greeting; nil for any other line.
    static func nonce(in line: String) -> String? {
        guard line.hasPrefix(greeting) else { return nil }
        let nonce = line.dropFirst(greeting.count)
        return nonce.utf8.count == 32 ? String(nonce) : nil
    }
}
