import Operations
import WireProtocol

/// What a text asks for, whether that is permitted, and if it is, with which params.
extension Dispatcher {
    /// Looks at a line on a thread that others wait for.
    ///
    /// - Parameter bytes: nil of a line that was too long to be kept.
    func look(
        atLine bytes: UnsafeBufferPointer<UInt8>?, _ parser: RequestParser, from caller: Caller
    ) -> ParsedText {
        guard let bytes else {
            let failure = RPCFailure.lineTooLong(limit: service.limits.lineBytes)
            return look(at: UnreadRequest(failed: failure), from: caller)
        }
        switch parser.parse(bytes) {
        case .single(let request): return look(at: request, from: caller)
        case .batch(let ranges): return Self.batch(ranges, of: bytes)
        }
    }

    /// Looks at a request out of a batch on a thread that others wait for.
    func look(
        atElement bytes: UnsafeBufferPointer<UInt8>, _ parser: RequestParser, from caller: Caller
    ) -> ParsedText {
        look(at: parser.parse(element: bytes), from: caller)
    }

    private func look(at unread: UnreadRequest, from caller: Caller) -> ParsedText {
        if let failure = refusal(of: unread, from: caller) {
            return .request(Request(refusing: unread, failure))
        }
        if case .success(let name) = unread.method, Method[name].isLarge(unread) { return .much }
        return .request(Request(reading: unread, service.limits))
    }

    /// Looks at a text on a thread of which it may take all it needs.
    func examine(_ text: LongText, from caller: Caller) -> ParsedText {
        let parser = RequestParser(limits: service.limits)
        return text.bytes.withUnsafeBufferPointer { bytes in
            let message =
                text.isElement ? .single(parser.parse(element: bytes)) : parser.parse(bytes)
            switch message {
            case .batch(let ranges): return Self.batch(ranges, of: bytes)
            case .single(let unread):
                if !text.isAdmitted, let failure = refusal(of: unread, from: caller) {
                    return .request(Request(refusing: unread, failure))
                }
                return withExtendedLifetime(parser) {
                    .request(Request(reading: unread, service.limits))
                }
            }
        }
    }

    /// A batch's requests, which share one copy of their line.
    private static func batch(
        _ ranges: [Range<Int>], of line: UnsafeBufferPointer<UInt8>
    ) -> ParsedText {
        let line = Array(line)
        return .batch(ranges.map { line[$0] })
    }
}
