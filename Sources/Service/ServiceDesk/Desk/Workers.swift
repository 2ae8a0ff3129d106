import Objects
import Runtime

/// Worker threads for tasks that would block an event loop, of all servers.
public struct Workers: Sendable {
    /// Costly reads, which may take seconds.
    package let reads: FairWorkers
    /// Parsing of long requests: milliseconds each, so they do not wait for costly reads.
    package let parsing: FairWorkers

    private init(limits: Limits) {
        reads = FairWorkers("read", .costlyReads, threads: limits.readThreads)
        parsing = FairWorkers(
            "parse", .costlyReads, threads: max(2, limits.connectionThreads))
    }

    /// Runs `body` with threads that end after it.
    public static func with<Result>(
        _ limits: Limits, _ body: (Workers) async throws -> Result
    ) async throws -> Result {
        let workers = Workers(limits: limits)
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body(workers)) } catch { result = .failure(error) }
        await workers.parsing.shutdownGracefully()
        await workers.reads.shutdownGracefully()
        return try result.get()
    }
}
