import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import QueryServer

/// How nodes know each other, and how what they say is cut into frames: on a channel of the test's.
@Suite struct NodeGreetingTests {
    private static let secret = NodeSecret("the token of these tests")
    private static let nonce = String(repeating: "a1", count: 16)

    /// What came of a greeting.
    private final class Accepted {
        var rest: [String] = []
    }

    private static func channel(_ accepted: Accepted) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(
            handler: NodeGreeting(secret) { accepted.rest.append(String(buffer: $0)) })
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    private static func said(_ channel: EmbeddedChannel) throws -> String {
        var text = ""
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) {
            text += String(buffer: buffer)
        }
        return text
    }

    private static func say(_ text: String, _ channel: EmbeddedChannel) throws {
        try channel.writeInbound(ByteBuffer(string: text))
    }

    /// The random text that the node says to a greeting.
    private static func greet(_ channel: EmbeddedChannel) throws -> String {
        try say("GEOBUCKET-NODE 1 \(nonce)\n", channel)
        let line = try said(channel)
        let theirs = line.dropFirst("GEOBUCKET-NODE 1 ".count).dropLast()
        #expect(line.hasPrefix("GEOBUCKET-NODE 1 ") && line.hasSuffix("\n"))
        #expect(theirs.count == 32 && theirs.allSatisfy(\.isHexDigit))
        return String(theirs)
    }

    @Test func `Who has the secret is a node, and each proves it to the other`() throws {
        let accepted = Accepted()
        let channel = try Self.channel(accepted)
        let theirs = try Self.greet(channel)
        let proof = Self.secret.proof(.asks, Self.nonce, theirs)
        // A byte at a time; nothing is said before the line is whole.
        for byte in proof {
            try Self.say(String(byte), channel)
            #expect(try Self.said(channel) == "" && accepted.rest.isEmpty)
        }
        try Self.say("\n", channel)
        #expect(try Self.said(channel) == Self.secret.proof(.answers, Self.nonce, theirs) + "\n")
        #expect(accepted.rest == [""])
        #expect(channel.isActive)
    }

    @Test func `No two greetings are answered with the same random text`() throws {
        let nonces = try (0..<20).map { _ in try Self.greet(Self.channel(Accepted())) }
        #expect(Set(nonces).count == nonces.count)
    }

    @Test func `Who has another secret, or the wrong side's proof, is told so and closed`() throws {
        for role in [NodeSecret.Role.asks, .answers] {
            let accepted = Accepted()
            let channel = try Self.channel(accepted)
            let theirs = try Self.greet(channel)
            let secret = role == .asks ? NodeSecret("another token of tests") : Self.secret
            try Self.say(secret.proof(role, Self.nonce, theirs) + "\n", channel)
            #expect(try Self.said(channel).contains(#""errorCode":"UNAUTHORIZED""#))
            #expect(accepted.rest.isEmpty)
            #expect(!channel.isActive)
        }
    }

    @Test(arguments: [
        "GEOBUCKET-NODE 1 short\n", "GEOBUCKET-NODE 1 \n",
        "GEOBUCKET-NODE 1 \(nonce)0\n",
        "GEOBUCKET-NODE 1 " + String(repeating: "a", count: 200),
    ])
    func `A greeting that is none ends the connection`(_ text: String) throws {
        let accepted = Accepted()
        let channel = try Self.channel(accepted)
        try Self.say(text, channel)
        #expect(try Self.said(channel) == "")
        #expect(accepted.rest.isEmpty && !channel.isActive)
    }

    @Test(arguments: [
        ["{\"jsonrpc\""], ["G", "EO", "T / HTTP/1.1\n"], ["GEOBUCKET-NODE 2 x\n"],
        ["\n"], ["GEOBUCKET-NODE 1", "\n"], ["\u{16}\u{3}\u{1}"],
    ])
    func `What a client says is passed on whole, from its first byte`(_ pieces: [String]) throws {
        let channel = try Self.channel(Accepted())
        for piece in pieces + ["more"] { try Self.say(piece, channel) }
        var text = ""
        while let buffer = try channel.readInbound(as: ByteBuffer.self) {
            text += String(buffer: buffer)
        }
        #expect(text == (pieces + ["more"]).joined())
        #expect(try Self.said(channel) == "" && channel.isActive)
    }

    // MARK: Frames

    @Test(arguments: Seeds.first(20))
    func `Frames are the same in any cut of their bytes`(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let kinds = (1...7).compactMap { NodeFrame.Kind(rawValue: $0) }
        let frames = (0..<30).map { _ in
            (
                kind: random.pick(kinds), number: random.next(),
                rest: String(repeating: "x", count: random.below(random.pick([1, 20, 5_000])))
            )
        }
        var all = ByteBuffer()
        for frame in frames {
            NodeFrame.write(frame.kind, frame.number, to: &all) { $0.writeString(frame.rest) }
        }
        var input = ByteBuffer()
        var count = 0
        while var piece = all.readSlice(
            length: min(all.readableBytes, 1 + random.below(random.pick([3, 3_000]))))
        {
            guard piece.readableBytes > 0 else { break }
            input.writeBuffer(&piece)
            while let frame = try NodeFrame.next(in: &input) {
                let expected = frames[count]
                #expect(frame.kind == expected.kind && frame.number == expected.number)
                #expect(String(buffer: frame.rest) == expected.rest, "seed \(seed)")
                count += 1
            }
        }
        #expect(count == frames.count && input.readableBytes == 0, "seed \(seed)")
    }

    @Test(arguments: [
        [0, 0, 0, 0], [0, 0, 0, 8], [0xFF, 0xFF, 0xFF, 0xFF], [0x40, 0, 0, 1],
        [0, 0, 0, 9, 0] + [UInt8](repeating: 0, count: 8),
        [0, 0, 0, 9, 8] + [UInt8](repeating: 0, count: 8),
    ])
    func `A frame of an impossible length or kind is a fault`(_ bytes: [UInt8]) {
        var input = ByteBuffer(bytes: bytes)
        #expect(throws: NodeFrame.Fault.self) { _ = try NodeFrame.next(in: &input) }
    }
}
