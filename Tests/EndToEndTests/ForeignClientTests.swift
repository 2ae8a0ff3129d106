import Foundation
import TestSupport
import Testing

/// A JSON-RPC client of other people's, unmodified: the Python package aiorpcX over raw TCP.
///
/// Needs a Python that has it: GEOBUCKET_TEST_PYTHON, else `.build/python/bin/python3`, made by
/// `python3 -m venv .build/python && .build/python/bin/pip install aiorpcx==0.25.0`.
@Suite struct ForeignClientTests {
    static let python: String? = {
        if let named = ProcessInfo.processInfo.environment["GEOBUCKET_TEST_PYTHON"] { return named }
        let built = Program.packageRoot + "/.build/python/bin/python3"
        return FileManager.default.isExecutableFile(atPath: built) ? built : nil
    }()

    @Test(
        .enabled(
            if: python != nil,
            "no Python with aiorpcX: set GEOBUCKET_TEST_PYTHON or make .build/python"))
    func `aiorpcX creates, queries and pages, as it is`() async throws {
        let python = try #require(Self.python)
        try await withTemporaryFolder { folder in
            try await TestService.with { service in
                let script = Program.packageRoot + "/Tests/EndToEndTests/foreign_client.py"
                let process = try ChildProcess.start(
                    python, [script, "127.0.0.1", "\(service.port)"], folder: folder)
                let status = await process.end()
                if status == nil { await process.killAndWait() }
                #expect(status == 0, "\(process.standardError)")
                #expect(process.standardOutput == "ok\n")
            }
        }
    }
}
