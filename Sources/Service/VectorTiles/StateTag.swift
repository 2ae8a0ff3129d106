import Digests
import HTTPTypes
import WebExchange

/// The `ETag` of an answer: what the bucket's objects are called, and a digest of the question.
///
/// The same question about the same objects has the same answer, so the tag never outlives it.
struct StateTag {
    private let digest: String

    /// Bytes of the digest that are told.
    private static let digestBytes = 12

    /// A tag of a question.
    ///
    /// - Parameter question: all that the answer depends on besides the objects.
    init(of question: [String]) {
        // Lengths, so that no two questions are the same text.
        let text = question.map { "\($0.utf8.count):\($0)" }.joined()
        digest = SHA256.digest(of: Array(text.utf8)).prefix(Self.digestBytes)
            .map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// What the objects were called when the client got its answer to this question; empty without
    /// one.
    func knownState(of request: WebRequest) -> String {
        let end = "-\(digest)"
        let known = request.knownTags.first { $0.hasSuffix(end) }
        return known.map { String($0.dropLast(end.count)) } ?? ""
    }

    /// The client has the answer.
    func unchanged(_ state: String) -> WebAnswer {
        WebAnswer(.notModified, headers: headers(state))
    }

    /// An answer with its tag; without its body if the client has it.
    func marking(_ answer: WebAnswer, _ state: String, for request: WebRequest) -> WebAnswer {
        if request.knows(tag: "\(state)-\(digest)") { return unchanged(state) }
        var answer = answer
        for field in headers(state) { answer.headers.append(field) }
        return answer
    }

    private func headers(_ state: String) -> HTTPFields {
        [.eTag: "\"\(state)-\(digest)\"", .cacheControl: "no-cache, private"]
    }
}
