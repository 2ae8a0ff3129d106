import Dispatch

/// Runs a blocking call on a separate thread. Swift's own threads are as few as the machine's
/// processors, and others need them meanwhile, for example health over HTTP.
func blocking<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result(catching: body)) }
    }
}
