import NIOCore

/// The messages between two nodes after they have greeted each other; pure.
///
/// A frame is its length without these four bytes, its kind, a number, and the rest. Answers come in
/// any order, under the number of the request.
///
///     NodeFrame.write(.request, 7, to: &buffer) { … }
///     while let frame = try NodeFrame.next(in: &buffer) { … }
struct NodeFrame {
    enum Kind: UInt8 {
        /// What requests of a caller may do; the number stands for the caller from then on.
        case caller = 1
        /// The caller is gone.
        case farewell
        /// A request: the number of its caller, and its text.
        case request
        /// The answer: the text that a client gets.
        case answer
        /// The node does not hold the bucket, and has done nothing; the rest may say why.
        case absent
        /// Asks whether the other node is there.
        case ping
        case pong
    }

    let kind: Kind
    let number: UInt64
    var rest: ByteBuffer

    /// A frame that cannot be read, so nothing after it can.
    struct Fault: Error {}

    private static let fixedBytes = 9
    private static let mostBytes = 1 << 30

    static func write(
        _ kind: Kind, _ number: UInt64, to buffer: inout ByteBuffer,
        _ rest: (inout ByteBuffer) -> Void = { _ in }
    ) {
        let start = buffer.writerIndex
        buffer.writeMultipleIntegers(UInt32(0), kind.rawValue, number)
        rest(&buffer)
        buffer.setInteger(UInt32(buffer.writerIndex - start - 4), at: start)
    }

    /// Takes the next frame; nil until it is whole.
    static func next(in buffer: inout ByteBuffer) throws(Fault) -> NodeFrame? {
        guard let length: UInt32 = buffer.getInteger(at: buffer.readerIndex) else { return nil }
        let count = Int(length)
        guard (fixedBytes...mostBytes).contains(count) else { throw Fault() }
        guard buffer.readableBytes >= count + 4 else { return nil }
        buffer.moveReaderIndex(forwardBy: 4)
        guard var frame = buffer.readSlice(length: count), let raw: UInt8 = frame.readInteger(),
            let kind = Kind(rawValue: raw), let number: UInt64 = frame.readInteger()
        else { throw Fault() }
        return NodeFrame(kind: kind, number: number, rest: frame)
    }
}
