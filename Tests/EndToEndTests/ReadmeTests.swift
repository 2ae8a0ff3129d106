import Foundation
import TestSupport
import Testing

/// What the README and the manuals show is what the program prints.
@Suite struct ReadmeTests {
    /// One command of a console block and the output shown under it.
    private struct Example {
        var command: String
        /// The lines between `<<'END'` and `END`.
        var input: [String] = []
        var output: [String] = []
    }

    /// The documents whose console sessions are run, one after the other on one service.
    private static let documents = [
        "README.md", "docs/command-line.md", "docs/protocol.md", "docs/queries.md",
        "docs/live-queries.md",
    ]

    /// The console sessions of a document; a command goes on behind a `\` at the end of its line.
    private static func examples(_ document: String) throws -> [Example] {
        let text = try String(
            contentsOfFile: Program.packageRoot + "/" + document, encoding: .utf8)
        var examples: [Example] = []
        var isInside = false
        var isInput = false
        for line in text.replacing("\\\n", with: "").components(separatedBy: "\n") {
            if line == "```console" {
                isInside = true
            } else if line == "```" {
                isInside = false
            } else if isInside, line.hasPrefix("$ ") {
                examples.append(Example(command: String(line.dropFirst(2))))
                isInput = line.hasSuffix("<<'END'")
            } else if isInside, isInput, line == "END" {
                isInput = false
            } else if isInside, isInput {
                examples[examples.count - 1].input.append(line)
            } else if isInside {
                examples[examples.count - 1].output.append(line)
            }
        }
        return examples
    }

    /// Times are those of the day the document was written.
    private static func withoutTimes(_ line: String) -> String {
        line.replacing(/"_(created|modified)":\d+/) { "\"_\($0.output.1)\":0" }
    }

    /// Change numbers and tokens are those of the store that the document was written with.
    private static func withoutState(_ line: String) -> String {
        withoutTimes(line).replacing(/"change":\d+/, with: "\"change\":0")
            .replacing(/"resume":"[^"]*"/, with: "\"resume\":\"\"")
    }

    @Test func `The documents' console sessions print what they show`() async throws {
        let examples = try Self.documents.map(Self.examples)
        #expect(examples.allSatisfy { !$0.isEmpty })
        try await withTemporaryFolder { folder in
            try await TestService.with { service in
                let server = "127.0.0.1:\(service.port)"
                let sample = Program.packageRoot + "/Data/airports-main.ndjson.gz"
                let load = try await Program.run(
                    ["load", sample, "--bucket", "airports", "--server", server], folder: folder)
                #expect(load.status == 0, "\(load.errors)")
                for example in examples.joined() {
                    try await Self.check(example, service, folder)
                }
            }
        }
    }

    private static func check(
        _ example: Example, _ service: TestService, _ folder: String
    ) async throws {
        if example.command.hasPrefix("nc "),
            example.input.contains(where: { $0.contains("watch.") })
        {
            // A notification may stand before the answer to the write that it tells.
            let lines = try RawConnection.with(port: service.port) { raw in
                try raw.send(example.input.joined(separator: "\n") + "\n")
                try raw.finishSending()
                return try raw.remainingLines()
            }
            #expect(lines.map(withoutState).sorted() == example.output.map(withoutState).sorted())
        } else if example.command.hasPrefix("nc ") {
            #expect(!example.input.isEmpty && example.input.count == example.output.count)
            for (line, shown) in zip(example.input, example.output) {
                let answer = try await service.line(line)
                #expect(withoutTimes(answer) == withoutTimes(shown))
            }
        } else if example.command.hasPrefix("geobucket ") {
            let script =
                "exec \(Program.path) \(example.command.dropFirst("geobucket ".count)) "
                + "--server 127.0.0.1:\(service.port)"
            let process = try ChildProcess.start("/bin/sh", ["-c", script], folder: folder)
            #expect(await process.end() == 0, "\(process.standardError)")
            let lines = process.standardOutput.components(separatedBy: "\n").dropLast()
            #expect(Array(lines) == example.output, "\(example.command)")
        } else {
            #expect(example.command.hasPrefix("alias "))
        }
    }

    @Test func `The sample question has the answer that was worked out by hand`() async throws {
        try await withTemporaryFolder { folder in
            try await TestService.with { service in
                let server = "127.0.0.1:\(service.port)"
                let sample = Program.packageRoot + "/Data/airports-main.ndjson.gz"
                _ = try await Program.run(
                    ["load", sample, "--bucket", "airports", "--server", server], folder: folder)
                let answer = try await Program.run(
                    [
                        "query", "--bucket", "airports", "--near", "35.6812,139.7671", "--within",
                        "100km", "--where", "lighted = true and runway_m >= 2500", "--fields",
                        "name", "--format", "ndjson", "--server", server,
                    ], folder: folder)
                let ids = try answer.output.split(separator: "\n").map {
                    try JSONValue(parsing: String($0))["_id"]?.string
                }
                #expect(ids == ["RJTT", "RJTY", "RJAA", "RJAH"])
            }
        }
    }

    @Test func `The figures of the README are those of the reports that it names`() throws {
        func text(_ document: String) throws -> String {
            try String(contentsOfFile: Program.packageRoot + "/" + document, encoding: .utf8)
        }
        func figures(_ text: String) -> [String] {
            text.matches(of: /\d[\d,.]*\d|\d/).map { String($0.output) }
        }
        let sections = try text("README.md").components(separatedBy: "\n## ")
        let section = try #require(sections.first { $0.hasPrefix("How fast") })
        let rows = section.components(separatedBy: "\n").filter { $0.hasPrefix("| ") }
        let shown = rows.flatMap(figures)
        let measured = try ["report", "growth"].flatMap { name in
            figures(try text("docs/measured/\(name).md"))
        }
        #expect(shown.count > 60)
        #expect(shown.filter { !measured.contains($0) } == [])
    }
}
