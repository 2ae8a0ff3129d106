import Synchronization

/// Returns when a condition holds; throws when the test has run out of time.
func wait(until condition: () -> Bool) async throws {
    while !condition() { try await Task.sleep(for: .milliseconds(1)) }
}

/// A text that one task leaves for another.
final class TestOutcome: Sendable {
    private let value = Mutex("")

    var text: String { value.withLock { $0 } }

    func set(_ text: String) { value.withLock { $0 = text } }
}
