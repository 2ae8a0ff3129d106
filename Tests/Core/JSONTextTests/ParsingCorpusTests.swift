import Foundation
import FuzzTargets
import JSONText
import TestSupport
import Testing

/// The public corpus of JSON texts that must (`y_`) and must not (`n_`) be accepted.
@Suite struct ParsingCorpusTests {
    /// Beside the package, where the corpus is not part of it.
    static let folder = Checkout.root.deletingLastPathComponent()
        .appending(path: "shared/corpora/JSONTestSuite/test_parsing")

    static var isPresent: Bool { FileManager.default.fileExists(atPath: folder.path) }

    static func cases(_ prefix: String) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasPrefix(prefix) }
            .sorted { $0.path < $1.path }
    }

    private static func isAccepted(_ text: [UInt8]) -> Bool {
        (try? JSONParser.reading(text) { _ in }) != nil
    }

    @Test(.enabled(if: isPresent, "the corpus is not in ../shared/corpora/JSONTestSuite"))
    func `Every text of the corpus that is JSON is accepted, as JSON it stays when minified`()
        throws
    {
        let files = try Self.cases("y_")
        #expect(files.count > 90)
        for file in files {
            let text = [UInt8](try Data(contentsOf: file))
            #expect(Self.isAccepted(text), "\(file.lastPathComponent)")
            let minified = text.withUnsafeBufferPointer(minifiedJSON)
            #expect(Self.isAccepted(minified), "\(file.lastPathComponent)")
        }
    }

    @Test(.enabled(if: isPresent, "the corpus is not in ../shared/corpora/JSONTestSuite"))
    func `Every text of the corpus that is not JSON is refused`() throws {
        let files = try Self.cases("n_")
        #expect(files.count > 180)
        for file in files {
            let text = [UInt8](try Data(contentsOf: file))
            #expect(!Self.isAccepted(text), "\(file.lastPathComponent)")
        }
    }

    @Test(.enabled(if: isPresent, "the corpus is not in ../shared/corpora/JSONTestSuite"))
    func `Texts that a parser may take either way do not stop it`() throws {
        let parser = JSONParser()
        for file in try Self.cases("i_") {
            _ = try? parser.parse([UInt8](try Data(contentsOf: file)))
            #expect(try parser.parse(Array("[1]".utf8)).count == 1, "\(file.lastPathComponent)")
        }
    }

    @Test(.enabled(if: isPresent, "the corpus is not in ../shared/corpora/JSONTestSuite"))
    func `Both parsers agree on every text of the corpus`() throws {
        for file in try Self.cases("") {
            let difference = ParserAgreement.difference([UInt8](try Data(contentsOf: file)))
            #expect(difference == nil, "\(file.lastPathComponent)")
        }
    }
}
