import Operations
import WireProtocol

/// Parsing: the method comes first, then admission, and the params only for admitted requests.
extension Dispatcher {
    /// Parses a line on the event loop.
    ///
    /// - Parameter bytes: nil for a line that was longer than the limit.
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

    /// Parses a request of a batch on the event loop.
    func look(
        atElement bytes: UnsafeBufferPointer<UInt8>, _ parser: RequestParser, from caller: Caller
    ) -> ParsedText {
        look(at: parser.parse(element: bytes), isElement: true, from: caller)
    }

    private func look(
        at unread: UnreadRequest, isElement: Bool = false, from caller: Caller
    ) -> ParsedText {
        if let failure = refusal(of: unread, isElement: isElement, from: caller) {
            return .request(Request(refusing: unread, failure))
        }
        if case .success(let name) = unread.method, Method[name].isLarge(unread) { return .much }
        return .request(Request(reading: unread, service.limits))
    }

    /// Parses a text on a worker thread, where it may take its time.
    func examine(_ text: LongText, from caller: Caller) -> ParsedText {
        let parser = RequestParser(limits: service.limits)
        return text.bytes.withUnsafeBufferPointer { bytes in
            let message =
                text.isElement ? .single(parser.parse(element: bytes)) : parser.parse(bytes)
            switch message {
            case .batch(let ranges): return Self.batch(ranges, of: bytes)
            case .single(let unread):
                if !text.isAdmitted,
                    let failure = refusal(of: unread, isElement: text.isElement, from: caller)
                {
                    return .request(Request(refusing: unread, failure))
                }
                return withExtendedLifetime(parser) {
                    .request(Request(reading: unread, service.limits))
                }
            }
        }
    }

    /// Splits a batch into its requests, which share one copy of the line.
    private static func batch(
        _ ranges: [Range<Int>], of line: UnsafeBufferPointer<UInt8>
    ) -> ParsedText {
        let line = Array(line)
        return .batch(ranges.map { line[$0] })
    }
}
