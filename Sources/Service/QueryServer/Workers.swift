import Objects

/// Threads for what would hold up an event loop.
struct Workers: Sendable {
    /// Costly reads, of seconds perhaps.
    let reads: FairWorkers
    /// Long requests to be read: milliseconds each, which do not wait for costly reads.
    let parsing: FairWorkers

    init(limits: Limits) {
        reads = FairWorkers(threads: limits.readThreads)
        parsing = FairWorkers(threads: max(2, limits.connectionThreads))
    }

    /// Ends all threads when what runs on them has ended.
    func shutdownGracefully() async throws {
        try await parsing.shutdownGracefully()
        try await reads.shutdownGracefully()
    }
}
