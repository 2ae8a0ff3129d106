import TestSupport

extension Program {
    /// Runs the program against a service to its end.
    typealias Run =
        @Sendable ([String]) async throws -> (status: Int32, output: String, errors: String)

    /// Runs `body` with a service, a folder, and a way to run the program against that service.
    static func withService(
        _ body: @escaping @Sendable (TestService, String, Run) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await TestService.with { service in
                try await body(service, folder) { arguments in
                    try await Program.run(
                        arguments + ["--server", "127.0.0.1:\(service.port)"], folder: folder)
                }
            }
        }
    }
}
