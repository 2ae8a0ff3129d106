import Foundation
import TestSupport
import Testing

/// The Swift that the documents show stands, word for word, in a file that is compiled and tested,
/// and what the client's libraries have stands on a page.
@Suite struct SnippetTests {
    private static let tutorial =
        "Sources/Client/GeoBucketClient/GeoBucketClient.docc/BuildingAStoreFinder.md"
    private static let manuals = ["docs/client.md", "docs/kii.md", tutorial]
    private static let documents = ["docs/archives.md"] + manuals

    private static let sources = [
        "Examples/StoreFinder/StoreFinder.swift", "Tests/EndToEndTests/KiiExampleTests.swift",
        "Tests/EndToEndTests/SecureClientTests.swift",
        "Tests/Tools/ArchivesTests/FoundationArchiveTests.swift",
        "Tests/Client/GeoBucketClientTests/ManualTests.swift",
        "Tests/Client/GeoBucketClientTests/ModelTests.swift",
    ]

    private static func text(_ path: String) throws -> String {
        try String(contentsOfFile: Program.packageRoot + "/" + path, encoding: .utf8)
    }

    /// The pieces of Swift in a document, as they stand there.
    private static func pieces(_ document: String) throws -> [String] {
        try text(document).matches(of: /\n```swift\n((?s).*?\n)```\n/).map { String($0.1) }
    }

    private static func isManifest(_ piece: String) -> Bool {
        piece.hasPrefix("// swift-tools-version:")
    }

    private static func unindented(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }

    @Test(arguments: documents)
    func `Every piece of Swift in a document is compiled`(_ document: String) throws {
        let sources = try Self.sources.map { "\n" + Self.unindented(try Self.text($0)) }
        let pieces = try Self.pieces(document)
        #expect(!pieces.isEmpty)
        for piece in pieces where !Self.isManifest(piece) {
            let piece = "\n" + Self.unindented(piece)
            #expect(sources.contains { $0.contains(piece) }, "\(document):\(piece)")
        }
    }

    @Test func `The tutorial's pieces are the whole program, in their order`() throws {
        let pieces = try Self.pieces(Self.tutorial).filter { !Self.isManifest($0) }
        #expect(pieces.joined(separator: "\n") == (try Self.text(Self.sources[0])))
    }

    @Test func `The manifest that the documents show is one, of a product that we have`()
        async throws
    {
        let manifests = try Self.manuals.flatMap(Self.pieces).filter(Self.isManifest)
        let manifest = try #require(manifests.first)
        #expect(manifests.count == 2 && Set(manifests).count == 1)
        try await withTemporaryFolder { folder in
            let package = folder + "/store-finder"
            try FileManager.default.createDirectory(
                atPath: package, withIntermediateDirectories: false)
            try Data(manifest.utf8).write(to: URL(fileURLWithPath: package + "/Package.swift"))
            let theirs = try await Self.manifest(package, folder)
            let ours = try await Self.manifest(Program.packageRoot, folder)
            let target = (theirs["targets"] as? [[String: Any]])?.first
            #expect(target?["name"] as? String == "StoreFinder")
            let product =
                ((target?["dependencies"] as? [[String: Any]])?.first?["product"] as? [Any])
            #expect(product?.prefix(2).map { $0 as? String } == ["GeoBucketClient", "geobucket"])
            let products = (ours["products"] as? [[String: Any]])?.compactMap {
                $0["name"] as? String
            }
            #expect(products?.contains("GeoBucketClient") == true)
            #expect(products?.contains("KiiCompatibility") == true)
            #expect("\(theirs["dependencies"] ?? "")".contains(folder + "/geobucket"))
            for key in ["platforms", "toolsVersion"] {
                let values = try [theirs, ours].map { try #require($0[key]) }
                let texts = try values.map {
                    try JSONSerialization.data(withJSONObject: [$0], options: .sortedKeys)
                }
                #expect(texts[0] == texts[1], "\(key)")
            }
        }
    }

    private static func manifest(_ package: String, _ folder: String) async throws -> [String: Any]
    {
        let process = try ChildProcess.start(
            "/usr/bin/env",
            [
                "swift", "package", "--package-path", package, "--scratch-path",
                folder + "/scratch", "dump-package",
            ], folder: folder)
        let status = await process.end()
        #expect(status == 0, "\(process.standardError)")
        let json = try JSONSerialization.jsonObject(with: Data(process.standardOutput.utf8))
        return try #require(json as? [String: Any])
    }

    /// Names that protocols of the standard library ask for.
    private static let witnesses: Set = [
        "description", "errorDescription", "hash", "encode", "Element", "Iterator",
        "makeAsyncIterator", "next", "startIndex", "endIndex",
    ]

    @Test(arguments: ["GeoBucketClient", "KiiCompatibility"])
    func `Every public name of the client stands on a page`(_ library: String) throws {
        let pages = try
            (Self.manuals + [
                "Sources/Client/GeoBucketClient/GeoBucketClient.docc/GeoBucketClient.md"
            ])
            .map(Self.text).joined()
        let words = Set(pages.matches(of: /\w+/).map { String($0.0) })
        let folder = Program.packageRoot + "/Sources/Client/" + library
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder)
            .filter { $0.hasSuffix(".swift") }
        let declaration =
            /(?m)^ *(?:@\w+(?:\([^)]*\))? +)*(?:indirect |nonisolated\(nonsending\) )?public (?:fileprivate\(set\) |static |final |mutating |convenience |indirect )*(?:func|var|let|struct|class|enum|protocol|typealias) `?(\w+)/
        var count = 0
        for file in files {
            for match in try Self.text("Sources/Client/\(library)/\(file)").matches(of: declaration)
            {
                let name = String(match.1)
                guard !name.hasPrefix("_"), !Self.witnesses.contains(name) else { continue }
                count += 1
                #expect(words.contains(name), "\(library)/\(file): \(name)")
            }
        }
        #expect(count > 40)
    }
}
