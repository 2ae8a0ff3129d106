import Synchronization

/// The quotas of scopes: those of single scopes, those of principals for their own scopes, and those
/// for all scopes of a kind. The first that there is counts, as a whole.
///
/// They may be replaced at any time, and count from the next write on.
public final class Quotas: Sendable, Equatable {
    private struct State: Equatable {
        /// By the scope, `users/alice`, or by its kind, `users`.
        var rules: [String: Quota] = [:]
        var principals: [String: Quota] = [:]
        /// Scopes that had most of their quota at hand when they were written last.
        var near: [String: Near] = [:]
    }

    /// A scope that is near its quota.
    public struct Near: Sendable, Equatable {
        /// The scope.
        public let scope: String
        /// What it had when it was written last.
        public let usage: ScopeUsage
        /// How much that is of the quota: 1 at the bound.
        public let part: Double
    }

    private let state = Mutex(State())
    private let hasAny = Atomic(false)
    private let refusals = Atomic<Int>(0)

    /// From this part of a quota on a scope is near it.
    private static let nearPart = 0.8
    /// The most scopes that are remembered.
    private static let mostNear = 100

    /// No quotas.
    public init() {}

    /// Whether they say the same.
    public static func == (a: Quotas, b: Quotas) -> Bool {
        a === b || a.state.withLock { $0.rules } == b.state.withLock { $0.rules }
    }

    /// Whether there are none.
    public var isEmpty: Bool { !hasAny.load(ordering: .relaxed) }

    /// How often a write was refused.
    public var refused: Int { refusals.load(ordering: .relaxed) }

    /// Replaces those of scopes and of kinds.
    ///
    /// - Parameter rules: by scopes, `users/alice`, and by kinds, `users`.
    public func replace(rules: [String: Quota]) { change { $0.rules = rules } }

    /// Replaces those of principals.
    public func replace(principals: [String: Quota]) { change { $0.principals = principals } }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            state.near = [:]
            hasAny.store(!state.rules.isEmpty || !state.principals.isEmpty, ordering: .relaxed)
        }
    }

    /// The quota of a scope; nil if there is none, as for the application's own.
    public func quota(of scope: BucketScope) -> Quota? {
        guard !isEmpty, scope != .application else { return nil }
        let parts = scope.text.split(separator: "/", maxSplits: 1)
        return state.withLock { state in
            if let own = state.rules[scope.text] { return own }
            if parts[0] == "users", let own = state.principals[String(parts[1])] { return own }
            return state.rules[String(parts[0])]
        }
    }

    /// Notes what a scope has after a write, or at one that was refused.
    public func note(_ usage: ScopeUsage, of scope: BucketScope, _ quota: Quota, isRefused: Bool) {
        if isRefused { refusals.add(1, ordering: .relaxed) }
        let near = Near(scope: scope.text, usage: usage, part: quota.part(of: usage))
        state.withLock { state in
            guard near.part >= Self.nearPart else {
                state.near[scope.text] = nil
                return
            }
            state.near[scope.text] = near
            guard state.near.count > Self.mostNear,
                let least = state.near.values.min(by: { $0.part < $1.part })
            else { return }
            state.near[least.scope] = nil
        }
    }

    /// The scopes that are nearest their quotas, the nearest first.
    public func nearest(atMost count: Int) -> [Near] {
        let near = state.withLock { Array($0.near.values) }
        return Array(near.sorted { ($1.part, $0.scope) < ($0.part, $1.scope) }.prefix(count))
    }
}
