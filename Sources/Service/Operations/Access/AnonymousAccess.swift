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
    func check(_ operation: Operation) throws(ServiceFailure) {
        switch (operation, self) {
        case (.open, _): return
        case (_, .none): throw .noLogin
        case (.invalid, _): return
        case (.read(let bucket), _), (.write(let bucket, _), .write):
            guard bucket.scope == .application else { throw .noLogin }
        case (.list(let scope), _):
            guard scope == .application else { throw .noLogin }
        case (.write, .read):
            throw ServiceFailure(.unauthorized, "without a login you may only read; log in first")
        case (.administer, _), (.ownWatch, _): throw .noLogin
        }
    }
}

extension ServiceFailure {
    static let noLogin = ServiceFailure(.unauthorized, "log in first, with auth.login")
}
