import HTTPTypes
import WebExchange

/// The `ETag` of an answer: what the bucket's objects are called, a digest of the question, and one of
/// the answer.
///
///     "48213-9f2c…-5be1…"
///
/// The same question about the same objects has the same answer, so that costs one comparison. If the
/// objects have changed and the answer has not, it costs no transfer.
struct StateTag {
    private let question: String

    /// A tag of a question.
    ///
    /// - Parameter question: all that the answer depends on besides the objects.
    init(of question: [String]) { self.question = digest(of: question) }

    /// What the client got to this question: what the objects were called, and the answer's digest.
    private func known(by request: WebRequest) -> (state: Substring, content: Substring)? {
        for tag in request.knownTags {
            let parts = tag.split(separator: "-", omittingEmptySubsequences: false)
            // What objects are called may have a "-" itself.
            guard parts.count >= 3, parts[parts.count - 2] == question[...] else { continue }
            return (tag[..<parts[parts.count - 2].startIndex].dropLast(), parts[parts.count - 1])
        }
        return nil
    }

    /// What the objects were called when the client got its answer to this question; empty without
    /// one.
    func knownState(of request: WebRequest) -> String {
        known(by: request).map { String($0.state) } ?? ""
    }

    /// The client has the answer.
    func unchanged(_ state: String, for request: WebRequest) -> WebAnswer {
        let content = known(by: request)?.content ?? ""
        return WebAnswer(.notModified, headers: headers(state, String(content)))
    }

    /// An answer with its tag; without its body if the client has it.
    func marking(_ answer: WebAnswer, _ state: String, for request: WebRequest) -> WebAnswer {
        let content = digest(of: answer.bytes ?? [])
        if known(by: request)?.content == content[...] || request.knows(tag: "*") {
            return WebAnswer(.notModified, headers: headers(state, content))
        }
        var answer = answer
        for field in headers(state, content) { answer.headers.append(field) }
        return answer
    }

    private func headers(_ state: String, _ content: String) -> HTTPFields {
        [.eTag: "\"\(state)-\(question)-\(content)\"", .cacheControl: "no-cache, private"]
    }
}
