import TestSupport
import Testing

/// What the programs that tests start have of the tests.
@Suite struct ChildProcessTests {
    /// A program that had them would keep a connection open that its test has closed.
    @Test func `A program has no files of the tests open`() async throws {
        try await TestService.with { service in
            try await RawConnection.during(port: service.port, count: 4) { _ in
                try await withTemporaryFolder { folder in
                    let process = try ChildProcess.start("/bin/sleep", ["60"], folder: folder)
                    // While it begins, it reads its libraries.
                    #expect(try await waited { process.openFiles == 3 })
                    await process.killAndWait()
                }
            }
        }
    }
}
