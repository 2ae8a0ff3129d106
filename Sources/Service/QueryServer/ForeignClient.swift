import ServiceDesk

/// Whether a client speaks JSON-RPC, found out by what it says first. A browser does not: any page can
/// make it send a request of HTTP to any port, with lines in the body that would be requests here.
///
///     client.hear(bytes)
///     if let refusal = client.refusal(of: found) { … }    // and nothing that follows is carried out
struct ForeignClient {
    private enum Speech {
        /// Nothing but white space so far.
        case silence
        /// The first byte begins no object and no array, and no line has been JSON.
        case doubtful
        case jsonRPC
    }

    private var speech = Speech.silence

    /// Takes bytes as they arrive. A request is an object, and a batch an array; no method of HTTP
    /// begins like one.
    mutating func hear(_ bytes: UnsafeRawBufferPointer) {
        guard case .silence = speech else { return }
        for byte in bytes {
            switch byte {
            case 0x20, 0x09, 0x0D, 0x0A: continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): speech = .jsonRPC
            default: speech = .doubtful
            }
            return
        }
    }

    /// The same refusal of a line that is not JSON, with what its client may have been looking for, if
    /// the client has said nothing else yet; nil if the line may be carried out or refused as any
    /// other. After a line that is too long the next one decides.
    mutating func refusal(of found: ParsedText) -> ParsedText? {
        guard case .doubtful = speech else { return nil }
        guard case .request(let request) = found, var failure = request.invalidity else {
            speech = .jsonRPC
            return nil
        }
        switch failure.errorCode {
        case "LINE_TOO_LONG": return nil
        case "INVALID_JSON":
            failure.message +=
                "; this port takes JSON-RPC, one request a line, and HTTP is spoken at the web port (--web)"
            return .request(request.refused(failure))
        default:
            speech = .jsonRPC
            return nil
        }
    }
}

extension ServiceRequest {
    /// Why it has failed before it starts; nil if it has not.
    fileprivate var invalidity: RPCFailure? {
        do throws(RPCFailure) {
            _ = try validCall()
            return nil
        } catch {
            return error
        }
    }
}
