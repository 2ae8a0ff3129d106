import Foundation
import TestSupport
import Testing

/// What the compiler says to what newcomers to the client write.
@Suite struct CompilerMessageTests {
    /// Finds what the client's modules need of C, and checks the types of a file.
    private static let script = """
        cd "$1"
        flags=(-I .build/debug/Modules -swift-version 6)
        while read -r map; do flags+=(-Xcc "-fmodule-map-file=$map"); done \
            < <(find -L .build/debug -maxdepth 2 -name module.modulemap -not -path '*/include/*')
        while read -r map; do flags+=(-I "$(dirname "$map")"); done \
            < <(find Sources .build/checkouts -name module.modulemap -not -path '*/Benchmarks/*')
        swiftc -typecheck "${flags[@]}" "$2"
        """

    private static let mistakes = [
        (#"_ = open == "yes""#, "'==' is unavailable: a Field is compared with a value of its own"),
        ("_ = rating != 4.5 as Double", "'!=' is unavailable: a Field is compared with a value of"),
        ("_ = rating >= 4.5", "cannot be applied to operands of type 'Field<Int>' and 'Double'"),
        ("_ = BucketQuery(clause: open)", "cannot convert value of type 'Field<Bool>' to expected"),
        ("_ = rating >= 4 && open", "cannot convert value of type 'Field<Bool>' to expected"),
    ]

    @Test func `Common mistakes are told in words that help, and none is taken silently`()
        async throws
    {
        let head = [
            "import GeoBucketClient",
            #"let open = Field<Bool>("open"), rating = Field<Int>("rating")"#,
            // A comparison with nil is a clause, not one of the Field itself.
            "let some: Clause = rating != nil", "let clause = rating != nil",
            "_ = BucketQuery(clause: clause && open == true)",
        ]
        try await withTemporaryFolder { folder in
            let file = folder + "/mistakes.swift"
            let text = (head + Self.mistakes.map(\.0)).joined(separator: "\n")
            try Data((text + "\n").utf8).write(to: URL(fileURLWithPath: file))
            let process = try ChildProcess.start(
                "/usr/bin/env", ["bash", "-c", Self.script, "bash", Program.packageRoot, file],
                folder: folder)
            #expect(await process.end() == 1)
            let lines = process.standardError.split(separator: "\n")
                .filter { $0.hasPrefix(file) && $0.contains("error: ") }
            #expect(lines.count == Self.mistakes.count, "\(process.standardError)")
            for (number, mistake) in Self.mistakes.enumerated() {
                let place = "\(file):\(head.count + number + 1):"
                let line = lines.first { $0.hasPrefix(place) } ?? ""
                #expect(line.contains(mistake.1), "\(mistake.0): \(line)")
            }
        }
    }
}
