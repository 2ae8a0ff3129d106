import Foundation

/// Runs a blocking call on a thread of its own. Swift has only as many threads as the machine has
/// processors, which it shares with Dispatch's global queues, and other tasks need them meanwhile, for
/// example health checks over HTTP.
func blocking<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
    }
}
