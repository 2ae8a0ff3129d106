import PlainJSON

/// Writes requests in the form of the protocol.
public enum RequestWriter {
    /// - Parameter params: JSON text.
    public static func request(
        id: Int, _ method: String, _ params: [UInt8], to writer: inout JSONWriter
    ) {
        writer.raw("{\"jsonrpc\":\"2.0\",\"id\":")
        writer.integer(id)
        writer.key("method")
        writer.string(method)
        writer.key("params")
        writer.raw(oneLine(params))
        writer.byte(UInt8(ascii: "}"))
    }

    /// JSON text without its line breaks, which can only be white space.
    private static func oneLine(_ text: [UInt8]) -> [UInt8] {
        guard text.contains(where: { $0 == 0x0A || $0 == 0x0D }) else { return text }
        return text.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }
    }
}
