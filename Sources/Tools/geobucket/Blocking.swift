import Dispatch

/// Runs a blocking call on a separate thread. Swift has only as many threads as the machine has
/// processors, and other tasks need them meanwhile, for example health checks over HTTP.
func blocking<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result(catching: body)) }
    }
}
