/// Parsing: the method comes first, then admission, and the params only for admitted requests.
extension Desk {
    /// Parses a line on the event loop.
    ///
    /// - Parameter bytes: nil for a line that was longer than the limit.
    package func parse(
        line bytes: UnsafeBufferPointer<UInt8>?, _ parser: RequestParser, from caller: Caller
    ) -> ParsedText {
        guard let bytes else {
            let failure = RPCFailure.lineTooLong(limit: service.limits.lineBytes)
            return .request(ServiceRequest(refusing: UnreadRequest(failed: failure), failure))
        }
        switch parser.parse(bytes) {
        case .single(let request): return take(request, bytes, from: caller)
        case .batch(let ranges): return Self.batch(ranges, of: bytes)
        }
    }

    /// Parses a request of a batch on the event loop.
    package func parse(
        element bytes: UnsafeBufferPointer<UInt8>, _ parser: RequestParser, from caller: Caller
    ) -> ParsedText {
        take(parser.parse(element: bytes), bytes, isElement: true, from: caller)
    }

    private func take(
        _ unread: UnreadRequest, _ text: UnsafeBufferPointer<UInt8>, isElement: Bool = false,
        from caller: Caller
    ) -> ParsedText {
        if let failure = refusal(of: unread, isElement: isElement, from: caller) {
            return .request(ServiceRequest(refusing: unread, failure))
        }
        if let elsewhere = elsewhere(unread, text, from: caller) { return .request(elsewhere) }
        if case .success(let name) = unread.method, Method[name].isLarge(unread) { return .much }
        return .request(ServiceRequest(reading: unread, service.limits))
    }

    /// Parses a text on a worker thread, where it may take its time.
    package func parse(_ text: LongText, from caller: Caller) -> ParsedText {
        parsers.withParser { parser in
            text.bytes.withUnsafeBufferPointer { bytes in
                let parser = RequestParser(limits: service.limits, parser: parser)
                let message =
                    text.isElement ? .single(parser.parse(element: bytes)) : parser.parse(bytes)
                switch message {
                case .batch(let ranges): return Self.batch(ranges, of: bytes)
                case .single(let unread): return take(unread, of: text, bytes, from: caller)
                }
            }
        }
    }

    private func take(
        _ unread: UnreadRequest, of text: LongText, _ bytes: UnsafeBufferPointer<UInt8>,
        from caller: Caller
    ) -> ParsedText {
        if !text.isAdmitted,
            let failure = refusal(of: unread, isElement: text.isElement, from: caller)
        {
            return .request(ServiceRequest(refusing: unread, failure))
        }
        if let elsewhere = elsewhere(unread, bytes, from: caller) { return .request(elsewhere) }
        return .request(ServiceRequest(reading: unread, service.limits))
    }

    /// An admitted request for a bucket that this node does not hold; nil for all others.
    private func elsewhere(
        _ unread: UnreadRequest, _ text: UnsafeBufferPointer<UInt8>, from caller: Caller
    ) -> ServiceRequest? {
        guard let placement = service.placement, case .success(let name) = unread.method,
            Method[name].needsBucket, let bucket = unread.bucket
        else { return nil }
        let isExport = Method[name].continues
        // An export goes on where it has begun, whoever holds the bucket by now.
        if isExport, unread.continues {
            guard let node = caller.exportNode else { return nil }
            let forwarded = ForwardedRequest(
                bucket: bucket, text: Array(text), mayBeRepeated: false, node: node)
            return ServiceRequest(forwarding: unread, as: forwarded)
        }
        if isExport { caller.exportNode = nil }
        guard !placement.isHeld(bucket) else { return nil }
        let mayBeRepeated = name.mayBeRepeated || isExport || unread.hasRequestKey
        return ServiceRequest(
            forwarding: unread,
            as: ForwardedRequest(
                bucket: bucket, text: Array(text), mayBeRepeated: mayBeRepeated,
                beginsExport: isExport))
    }

    /// Splits a batch into its requests, which share one copy of the line.
    private static func batch(
        _ ranges: [Range<Int>], of line: UnsafeBufferPointer<UInt8>
    ) -> ParsedText {
        let line = Array(line)
        return .batch(ranges.map { line[$0] })
    }
}
