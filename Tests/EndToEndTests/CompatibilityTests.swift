import Foundation
import HTTPGateway
import TestSupport
import Testing
import Wire

/// What `docs/compatibility.md` promises, as far as no other suite tests it.
@Suite struct CompatibilityTests {
    private static func words(_ text: String) -> Set<String> {
        Set(text.split { $0 == " " || $0 == "\n" }.map(String.init))
    }

    @Test func `Methods, errors and metrics that were published are there`() throws {
        let protocolText = try String(
            contentsOf: Checkout.root.appending(path: "docs/protocol.md"), encoding: .utf8)
        for name in Self.words(PublishedNames.methods) {
            #expect(MethodName(name) != nil, "\(name)")
        }
        for name in Self.words(PublishedNames.errors) {
            #expect(protocolText.contains("`\(name)`"), "\(name)")
        }
        let metrics = Set(MetricCatalogue.metrics.map(\.name))
        #expect(Self.words(PublishedNames.metrics).subtracting(metrics) == [])
    }

    @Test func `Flags that were published are there`() async throws {
        try await withTemporaryFolder { folder in
            // "load: format on-error" and lines that go on.
            let rows = PublishedNames.flags.matches(of: /([a-z -]+):([^:]*)(?:\n|$)/)
            #expect(rows.count > 20)
            for row in rows {
                let command = row.1.split(separator: " ").map(String.init)
                let help = try await Program.run(command + ["--help"], folder: folder)
                for flag in Self.words(String(row.2)) {
                    #expect(help.output.contains("--\(flag)"), "\(row.1) --\(flag)")
                }
            }
        }
    }

    @Test func `The document names every schema, and each earlier one has a store`() async throws {
        let document = try String(
            contentsOf: Checkout.root.appending(path: "docs/compatibility.md"), encoding: .utf8)
        let named = document.matches(of: /(?m)^\| (\d+) \|/).compactMap { Int($0.1) }
        let present = try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            try await TestService.with(path: path) { _ in }
            return try UpgradeTests.version(of: path)
        }
        #expect(named == Array(1...present))
        #expect(UpgradeTests.schemas == Array(1..<present))
        for schema in UpgradeTests.schemas {
            #expect(try UpgradeTests.version(of: UpgradeTests.path(of: schema)) == schema)
        }
    }
}
