import Objects

/// What callers may do without a login, in the application's own scope.
///
/// Their rates are limited by address, and what they create has no owner.
public enum AnonymousAccess: String, Sendable, CaseIterable {
    /// Nothing.
    case none
    /// Read objects, and list buckets.
    case read
    /// That, and change objects.
    case write

    /// - Throws: `UNAUTHORIZED`.
    func check(_ operation: Operation, _ caller: Caller) throws(ServiceFailure) {
        switch (operation, self) {
        case (.open, _): return
        case (_, .none): throw .noLogin(caller)
        case (.invalid, _): return
        case (.read(let bucket), _), (.write(let bucket, _), .write):
            guard bucket.scope == .application else { throw .noLogin(caller) }
        case (.list(let scope), _):
            guard scope == .application else { throw .noLogin(caller) }
        case (.write, .read):
            throw ServiceFailure(
                .unauthorized,
                "without a login you may only read; log in first: \(caller.loginAdvice)")
        case (.administer, _), (.ownWatch, _): throw .noLogin(caller)
        }
    }
}

extension ServiceFailure {
    static func noLogin(_ caller: Caller) -> ServiceFailure {
        ServiceFailure(.unauthorized, "log in first: \(caller.loginAdvice)")
    }
}
