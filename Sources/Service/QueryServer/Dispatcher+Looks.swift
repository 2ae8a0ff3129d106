import Backend
import Objects
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
            return .request(Request(refusing: UnreadRequest(failed: failure), failure))
        }
        switch parser.parse(bytes) {
        case .single(let request): return look(at: request, bytes, from: caller)
        case .batch(let ranges): return Self.batch(ranges, of: bytes)
        }
    }

    /// Parses a request of a batch on the event loop.
    func look(
        atElement bytes: UnsafeBufferPointer<UInt8>, _ parser: RequestParser, from caller: Caller
    ) -> ParsedText {
        look(at: parser.parse(element: bytes), bytes, from: caller)
    }

    private func look(
        at unread: UnreadRequest, _ text: UnsafeBufferPointer<UInt8>, from caller: Caller
    ) -> ParsedText {
        if let failure = refusal(of: unread, from: caller) {
            return .request(Request(refusing: unread, failure))
        }
        if let elsewhere = elsewhere(unread, text, from: caller) { return .request(elsewhere) }
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
                if !text.isAdmitted, let failure = refusal(of: unread, from: caller) {
                    return .request(Request(refusing: unread, failure))
                }
                if let elsewhere = elsewhere(unread, bytes, from: caller) {
                    return .request(elsewhere)
                }
                return withExtendedLifetime(parser) {
                    .request(Request(reading: unread, service.limits))
                }
            }
        }
    }

    /// An admitted request for a bucket that this node does not hold; nil for all others.
    private func elsewhere(
        _ unread: UnreadRequest, _ text: UnsafeBufferPointer<UInt8>, from caller: Caller
    ) -> Request? {
        guard let placement = service.placement, case .success(let name) = unread.method,
            Method[name].needsBucket, let bucket = unread.bucket, !placement.isHeld(bucket)
        else { return nil }
        if name == .export, !caller.isPassedOn {
            // An export belongs to its connection, so the client has to connect to a holder. One
            // that is under way here has a state of its own.
            if caller.export.isUnderWay { return nil }
            return Request(refusing: unread, .exportElsewhere(bucket, placement))
        }
        return Request(
            passing: unread,
            on: Passage(
                bucket: bucket, text: Array(text),
                mayBeRepeated: name.mayBeRepeated || unread.hasRequestKey))
    }

    /// Splits a batch into its requests, which share one copy of the line.
    private static func batch(
        _ ranges: [Range<Int>], of line: UnsafeBufferPointer<UInt8>
    ) -> ParsedText {
        let line = Array(line)
        return .batch(ranges.map { line[$0] })
    }
}

extension RPCFailure {
    /// The refusal of an export at a node that does not hold the bucket.
    fileprivate static func exportElsewhere(
        _ bucket: BucketName, _ placement: any BucketPlacement
    ) -> RPCFailure {
        let addresses = placement.nodes(for: bucket).prefix(placement.copies)
            .filter { !$0.isSelf }.map(\.clientAddress)
        return RPCFailure(
            ServiceFailure(
                .notAllowed,
                "this node does not hold the bucket \(quoted(bucket.text)): export it from "
                    + addresses.joined(separator: " or "),
                at: "bucket"))
    }
}
