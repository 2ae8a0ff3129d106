import WireProtocol

/// A client that does not speak JSON-RPC, such as a browser: any page can make it send a request of
/// HTTP to any port, with lines in the body that would be requests here.
///
/// Its first line is answered, and nothing after it is carried out.
enum ForeignClient {
    /// Whether a connection that begins with these bytes is one of such a client; nil as long as there
    /// is nothing but white space. A request is an object, and a batch an array; no method of HTTP
    /// begins like one.
    static func begins(with bytes: UnsafeRawBufferPointer) -> Bool? {
        for byte in bytes {
            switch byte {
            case 0x20, 0x09, 0x0D, 0x0A: continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): return false
            default: return true
            }
        }
        return nil
    }

    /// The same refusal of a line, with what its client may have been looking for.
    static func explained(_ found: ParsedText) -> ParsedText {
        guard case .request(let request) = found else { return found }
        do throws(RPCFailure) {
            _ = try request.validCall()
            return found
        } catch {
            var failure = error
            failure.message +=
                "; this port takes JSON-RPC, one request a line, and HTTP is spoken at the web port (--web)"
            return .request(request.refused(failure))
        }
    }
}
