import FuzzTargets
import JSONText
import TestSupport
import Testing

/// Texts that must, must not and may be taken as JSON.
@Suite struct ParsingCorpusTests {
    private static func isAccepted(_ text: [UInt8]) -> Bool {
        (try? JSONParser.reading(text) { _ in }) != nil
    }

    @Test func `Every text of the corpus that is JSON is accepted, as JSON it stays when minified`()
        throws
    {
        let texts = try JSONCorpus.texts(.accepted)
        #expect(texts.count > 250)
        for text in texts {
            #expect(Self.isAccepted(text.bytes), "\(text.name)")
            let minified = text.bytes.withUnsafeBufferPointer(minifiedJSON)
            #expect(Self.isAccepted(minified), "\(text.name)")
        }
    }

    @Test func `Every text of the corpus that is not JSON is refused`() throws {
        let texts = try JSONCorpus.texts(.refused)
        #expect(texts.count > 900)
        for text in texts {
            #expect(!Self.isAccepted(text.bytes), "\(text.name)")
        }
    }

    @Test func `Texts that a parser may take either way do not stop it`() throws {
        let parser = JSONParser()
        for text in try JSONCorpus.texts(.either) {
            _ = try? parser.parse(text.bytes)
            #expect(try parser.parse(Array("[1]".utf8)).count == 1, "\(text.name)")
        }
    }

    @Test(arguments: JSONCorpus.Verdict.allCases)
    func `Both parsers agree on every text of the corpus`(_ verdict: JSONCorpus.Verdict) throws {
        for text in try JSONCorpus.texts(verdict) {
            #expect(ParserAgreement.difference(text.bytes) == nil, "\(text.name)")
        }
    }
}
