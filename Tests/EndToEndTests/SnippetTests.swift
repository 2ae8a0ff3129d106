import Foundation
import Testing

/// The Swift that the documents show stands, word for word, in a file that is compiled and tested.
@Suite struct SnippetTests {
    private static let documents = [
        "README.md", "docs/client.md", "docs/kii.md", "docs/archives.md",
        "Sources/GeoBucketClient/GeoBucketClient.docc/BuildingAStoreFinder.md",
    ]

    private static let sources = [
        "Examples/StoreFinder/StoreFinder.swift", "Tests/EndToEndTests/KiiExampleTests.swift",
        "Tests/ArchivesTests/FoundationArchiveTests.swift",
        "Tests/GeoBucketClientTests/ModelTests.swift",
    ]

    /// A file's lines without indentation.
    private static func lines(_ path: String) throws -> [String] {
        try String(contentsOfFile: Program.packageRoot + "/" + path, encoding: .utf8)
            .components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test(arguments: documents)
    func `Every piece of Swift in a document is compiled`(_ document: String) throws {
        let sources = try Self.sources.map {
            "\n" + (try Self.lines($0)).joined(separator: "\n") + "\n"
        }
        var pieces: [[String]] = []
        var isInside = false
        for line in try Self.lines(document) {
            if line == "```swift" {
                isInside = true
                pieces.append([])
            } else if line == "```" {
                isInside = false
            } else if isInside {
                pieces[pieces.count - 1].append(line)
            }
        }
        #expect(!pieces.isEmpty)
        for piece in pieces.map({ "\n" + $0.joined(separator: "\n") + "\n" }) {
            #expect(sources.contains { $0.contains(piece) }, "\(document):\(piece)")
        }
    }
}
