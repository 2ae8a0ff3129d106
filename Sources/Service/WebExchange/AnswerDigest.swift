import Digests
import HTTPTypes

/// A digest of bytes for an `ETag`: 96 bits of SHA-256 as hexadecimal digits.
public func digest(of bytes: [UInt8]) -> String {
    SHA256.digest(of: bytes).prefix(12).map { byte in
        String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }.joined()
}

/// A digest of texts, in order.
public func digest(of texts: [String]) -> String {
    // Lengths, so that no two lists are the same text.
    digest(of: Array(texts.map { "\($0.utf8.count):\($0)" }.joined().utf8))
}

extension WebAnswer {
    /// The answer with a tag by which clients may keep it; without its body if the client has it.
    ///
    /// - Parameter caching: its `Cache-Control`; clients ask each time whether it is still the same.
    public func marked(
        _ tag: String, for request: WebRequest, caching: String = "no-cache, private"
    ) -> WebAnswer {
        let headers: HTTPFields = [.eTag: "\"\(tag)\"", .cacheControl: caching]
        if request.knows(tag: tag) { return WebAnswer(.notModified, headers: headers) }
        var answer = self
        for field in headers { answer.headers.append(field) }
        return answer
    }
}
