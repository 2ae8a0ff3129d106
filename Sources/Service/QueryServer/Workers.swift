import Objects

/// Worker threads for tasks that would block an event loop.
struct Workers: Sendable {
    /// Costly reads, which may take seconds.
    let reads: FairWorkers
    /// Parsing of long requests: milliseconds each, so they do not wait for costly reads.
    let parsing: FairWorkers

    init(limits: Limits) {
        reads = FairWorkers(threads: limits.readThreads)
        parsing = FairWorkers(threads: max(2, limits.connectionThreads))
    }

    /// Ends all threads after their present jobs.
    func shutdownGracefully() async throws {
        try await parsing.shutdownGracefully()
        try await reads.shutdownGracefully()
    }
}
