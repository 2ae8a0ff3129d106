import NIOCore

/// What a proxy says of a connection before anything else: from where it comes.
///
/// - Reference: HAProxy's PROXY protocol, versions 1 (a line of text) and 2 (binary).
struct ProxyHeader {
    /// Where the client is; nil if the proxy speaks for itself, as in a check of health, or the
    /// client has no address.
    let client: SocketAddress?

    /// That what has arrived is no header.
    struct Fault: Error {}

    private static let signature: [UInt8] = [
        0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
    ]
    private static let line = Array("PROXY ".utf8)

    /// The longest line of version 1, as the standard says.
    private static let lineBytes = 107
    /// What may follow the 16 bytes of version 2: two addresses, and further particulars.
    private static let blockBytes = 4_096

    /// Whether a connection that begins with these bytes begins like a header.
    static func begins(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.starts(with: signature) || bytes.starts(with: line)
    }

    /// Takes a header from the beginning of the bytes; nil as long as it is incomplete.
    init?(from bytes: inout ByteBuffer) throws(Fault) {
        let start = bytes.readableBytesView.prefix(Self.signature.count)
        if start.elementsEqual(Self.signature.prefix(start.count)) {
            guard let found = try Self.block(&bytes) else { return nil }
            client = found.client
        } else if start.prefix(Self.line.count).elementsEqual(Self.line.prefix(start.count)) {
            guard let found = try Self.text(&bytes) else { return nil }
            client = found.client
        } else {
            throw Fault()
        }
    }

    private init(client: SocketAddress?) { self.client = client }

    // MARK: Version 2

    private static func block(_ bytes: inout ByteBuffer) throws(Fault) -> ProxyHeader? {
        let start = bytes.readerIndex
        guard let command = bytes.getInteger(at: start + 12, as: UInt8.self),
            let family = bytes.getInteger(at: start + 13, as: UInt8.self),
            let length = bytes.getInteger(at: start + 14, as: UInt16.self)
        else { return nil }
        guard command >> 4 == 2, command & 15 <= 1, length <= blockBytes else { throw Fault() }
        guard bytes.readableBytes >= 16 + Int(length) else { return nil }
        bytes.moveReaderIndex(forwardBy: 16)
        guard var block = bytes.readSlice(length: Int(length)) else { throw Fault() }
        // Of itself (LOCAL), or of a client without an address of the internet.
        guard command & 15 == 1, let size = [1: 4, 2: 16][family >> 4] else {
            return ProxyHeader(client: nil)
        }
        // Two addresses and two ports, of which the first are the client's.
        guard block.readableBytes >= 2 * size + 4, let address = block.readSlice(length: size),
            block.readSlice(length: size) != nil, let port = block.readInteger(as: UInt16.self),
            let client = try? SocketAddress(packedIPAddress: address, port: Int(port))
        else { throw Fault() }
        return ProxyHeader(client: client)
    }

    // MARK: Version 1

    private static func text(_ bytes: inout ByteBuffer) throws(Fault) -> ProxyHeader? {
        guard let end = bytes.readableBytesView.prefix(lineBytes).firstIndex(of: 0x0A) else {
            guard bytes.readableBytes < lineBytes else { throw Fault() }
            return nil
        }
        guard let line = bytes.readString(length: end + 1 - bytes.readerIndex),
            line.hasSuffix("\r\n")
        else { throw Fault() }
        let words = line.dropLast().split(separator: " ", omittingEmptySubsequences: false)
        if words.count >= 2, words[1] == "UNKNOWN" { return ProxyHeader(client: nil) }
        guard words.count == 6, words[1] == "TCP4" || words[1] == "TCP6",
            let port = UInt16(words[4]),
            let client = try? SocketAddress(ipAddress: String(words[2]), port: Int(port))
        else { throw Fault() }
        return ProxyHeader(client: client)
    }
}
