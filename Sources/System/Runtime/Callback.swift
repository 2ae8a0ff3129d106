import Synchronization

/// A function that is known later than its caller is made. Calls before that do nothing.
public final class Callback: Sendable {
    private struct Function: Sendable {
        let call: @Sendable () -> Void
    }

    private let function = Mutex<Function?>(nil)

    /// A callback without a function.
    public init() {}

    /// Calls a function from now on. It takes the place of the one given before.
    public func set(_ function: @escaping @Sendable () -> Void) {
        self.function.withLock { $0 = Function(call: function) }
    }

    /// Calls the function.
    public func callAsFunction() { function.withLock { $0 }?.call() }
}
