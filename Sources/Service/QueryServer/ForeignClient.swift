import WireProtocol

/// A client that does not speak JSON-RPC, such as a browser: any page can make it send a request of
/// HTTP to any port, with lines in the body that would be requests here.
///
/// Its first line is answered, and nothing after it is carried out.
enum ForeignClient {
    /// How a connection begins.
    enum Beginning {
        /// Like a request, which is an object, or a batch, which is an array.
        case request
        /// Like a method of HTTP.
        case method
        /// Like neither.
        case other
    }

    /// How a connection begins that begins with these bytes; nil as long as there is nothing but white
    /// space.
    static func beginning(of bytes: UnsafeRawBufferPointer) -> Beginning? {
        for byte in bytes {
            switch byte {
            case 0x20, 0x09, 0x0D, 0x0A: continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): return .request
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): return .method
            default: return .other
            }
        }
        return nil
    }

    /// Whether it is the refusal of a line that is not JSON.
    static func isNoJSON(_ found: ParsedText) -> Bool {
        guard case .request(let request) = found else { return false }
        do throws(RPCFailure) {
            _ = try request.validCall()
            return false
        } catch {
            return error.errorCode == "INVALID_JSON"
        }
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
