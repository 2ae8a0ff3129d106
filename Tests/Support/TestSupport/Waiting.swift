/// How long a test waits for what has to come. Only something that hangs takes so long, on the slowest
/// machine too.
public let hangTime = Duration.seconds(180)

/// Asks until a condition holds; false if that takes longer than ``hangTime``.
public func waited(
    isolation: isolated (any Actor)? = #isolation, until condition: () async throws -> Bool
) async throws -> Bool {
    let end = ContinuousClock.now + hangTime
    while try await !condition() {
        guard ContinuousClock.now < end else { return false }
        try await Task.sleep(for: .milliseconds(5))
    }
    return true
}
