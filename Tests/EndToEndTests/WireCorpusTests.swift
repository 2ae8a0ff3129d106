import Foundation
import TestSupport
import Testing

/// The public corpus of JSON texts, over the wire.
@Suite struct WireCorpusTests {
    /// Where `GEOBUCKET_JSON_CORPUS` says, else beside the package.
    static let folder =
        ProcessInfo.processInfo.environment["GEOBUCKET_JSON_CORPUS"].map { URL(filePath: $0) }
        ?? URL(filePath: Program.packageRoot)
        .appending(path: "../shared/corpora/JSONTestSuite/test_parsing").standardized

    static var isPresent: Bool { FileManager.default.fileExists(atPath: folder.path) }

    /// Texts of the corpus that fit in one line.
    private static func texts(_ prefix: String) throws -> [(name: String, text: [UInt8])] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasPrefix(prefix) }
            .map { ($0.lastPathComponent, [UInt8](try Data(contentsOf: $0))) }
            .filter { !$0.text.contains(0x0A) && !$0.text.isEmpty && $0.text != [0x0D] }
    }

    @Test(
        .enabled(if: isPresent, "the corpus is neither in $GEOBUCKET_JSON_CORPUS nor in ../shared"))
    func `Texts that are JSON are stored and come back, all others are refused as no JSON`()
        async throws
    {
        try await FramingRules.with { raw in
            let head = Array(
                #"{"jsonrpc":"2.0","id":1,"method":"object.put","params":{"bucket":"b1","id":"o1","object":{"v":"#
                    .utf8)
            let tail = Array("}}}\n".utf8)
            var (accepted, refused) = (0, 0)
            for (name, text) in try Self.texts("y_") {
                try raw.send(head + text + tail)
                #expect(try FramingRules.code(try raw.line()) == "no error", "\(name)")
                accepted += 1
            }
            for (name, text) in try Self.texts("n_") {
                try raw.send(text + [0x0A])
                #expect(
                    try FramingRules.code(try raw.line()) == "-32700 INVALID_JSON id null",
                    "\(name)")
                refused += 1
            }
            #expect(accepted > 80 && refused > 150, "\(accepted) and \(refused)")
            for (_, text) in try Self.texts("i_") {
                try raw.send(text + [0x0A])
                _ = try raw.line()
            }
            try raw.send(FramingRules.ping())
            #expect(try raw.line() == FramingRules.pong())
        }
    }
}
