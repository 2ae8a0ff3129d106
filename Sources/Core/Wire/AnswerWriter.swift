import PlainJSON

/// Writes answers in the form of the protocol.
public enum AnswerWriter {
    /// Appends a result: the envelope, and inside it what `body` writes; nothing if it throws.
    ///
    /// - Parameter id: JSON.
    public static func result<Failure: Error>(
        id: String, to writer: inout JSONWriter,
        _ body: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        let start = writer.count
        begin(id, &writer)
        writer.key("result")
        do throws(Failure) {
            try body(&writer)
        } catch {
            writer.truncate(to: start)
            throw error
        }
        writer.byte(UInt8(ascii: "}"))
    }

    /// Bytes of the envelope of a result, without the id.
    public static let envelopeBytes = #"{"jsonrpc":"2.0","id":,"result":}"#.utf8.count

    /// Appends an error.
    ///
    /// - Parameter id: JSON; nil, for a request whose id is not known, is written as null.
    public static func failure(
        _ failure: RPCFailure, id: String?, to writer: inout JSONWriter
    ) {
        begin(id ?? "null", &writer)
        writer.key("error")
        failure.write(to: &writer)
        writer.byte(UInt8(ascii: "}"))
    }

    private static func begin(_ id: String, _ writer: inout JSONWriter) {
        writer.raw("{\"jsonrpc\":\"2.0\",\"id\":")
        var id = id
        id.withUTF8 { writer.raw($0) }
    }
}
