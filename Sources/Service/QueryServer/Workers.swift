import Objects

/// Worker threads for tasks that would block an event loop, of all servers.
public struct Workers: Sendable {
    /// Costly reads, which may take seconds.
    let reads: FairWorkers
    /// Parsing of long requests: milliseconds each, so they do not wait for costly reads.
    let parsing: FairWorkers

    private init(limits: Limits) {
        reads = FairWorkers(threads: limits.readThreads)
        parsing = FairWorkers(threads: max(2, limits.connectionThreads))
    }

    /// Runs `body` with threads that end after it.
    public static func with<Result>(
        _ limits: Limits, _ body: (Workers) async throws -> Result
    ) async throws -> Result {
        let workers = Workers(limits: limits)
        do {
            let result = try await body(workers)
            try await workers.shutdownGracefully()
            return result
        } catch {
            try await workers.shutdownGracefully()
            throw error
        }
    }

    /// Ends all threads after their present jobs.
    private func shutdownGracefully() async throws {
        try await parsing.shutdownGracefully()
        try await reads.shutdownGracefully()
    }
}
