import TestSupport
import Testing

/// Texts that must, must not and may be taken as JSON, over the wire.
@Suite struct WireCorpusTests {
    /// Texts of the corpus that are one line; an empty one has no answer.
    private static func texts(_ verdict: JSONCorpus.Verdict) throws -> [JSONCorpus.Text] {
        try JSONCorpus.texts(verdict).filter {
            !$0.bytes.contains(0x0A) && !$0.bytes.isEmpty && $0.bytes != [0x0D]
        }
    }

    @Test func `Texts that are JSON are stored and come back, all others are refused as no JSON`()
        async throws
    {
        try await FramingRules.with { raw in
            let head = Array(
                #"{"jsonrpc":"2.0","id":1,"method":"object.put","params":{"bucket":"b1","id":"o1","object":{"v":"#
                    .utf8)
            let tail = Array("}}}\n".utf8)
            var (accepted, refused) = (0, 0)
            for text in try Self.texts(.accepted) {
                try raw.send(head + text.bytes + tail)
                #expect(try FramingRules.code(try raw.line()) == "no error", "\(text.name)")
                accepted += 1
            }
            for text in try Self.texts(.refused) {
                try raw.send(text.bytes + [0x0A])
                #expect(
                    try FramingRules.code(try raw.line()) == "-32700 INVALID_JSON id null",
                    "\(text.name)")
                refused += 1
            }
            #expect(accepted > 200 && refused > 900, "\(accepted) and \(refused)")
            for text in try Self.texts(.either) {
                try raw.send(text.bytes + [0x0A])
                _ = try raw.line()
            }
            try raw.send(FramingRules.ping())
            #expect(try raw.line() == FramingRules.pong())
        }
    }
}
