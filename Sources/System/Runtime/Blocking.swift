/// Runs a blocking call on a thread of its own. Swift has only as many threads as the machine has
/// processors, which it shares with Dispatch's global queues, and other tasks need them meanwhile, for
/// example health checks over HTTP.
///
/// - Parameter name: the name of the thread.
public func blocking<Value: Sendable, Failure: Error>(
    _ name: String, _ body: @escaping @Sendable () throws(Failure) -> Value
) async throws(Failure) -> Value {
    let thread = WorkThread(name)
    let result: Result<Value, Failure> = await withCheckedContinuation { end in
        thread.async { end.resume(returning: Result(catching: body)) }
    }
    return try result.get()
}
