import Dispatch

/// Runs what takes its time without waiting in Swift's way on another thread: Swift's own are as few
/// as the machine's processors, and are needed meanwhile, by health over HTTP for example.
func blocking<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result(catching: body)) }
    }
}
