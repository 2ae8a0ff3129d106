import Synchronization

/// The caller of requests: one connection from beginning to end, and its login.
public final class Caller: Sendable {
    /// The address, as limits by address see it.
    public let address: String
    /// The export or backup in progress on the connection, if any.
    public let export = ExportSession()
    /// What the connection watches.
    public let watches = CallerWatches()
    /// Whether another node has admitted the caller's requests, and passes them on.
    public let isPassedOn: Bool
    /// What the caller may do without a login; nil where the service decides that for all.
    public let anonymous: AnonymousAccess?
    /// How to log in by the caller's door, for the refusal of a caller who has to.
    let loginAdvice: String
    /// Another for each caller of this process.
    public let number = lastNumber.add(1, ordering: .relaxed).newValue
    private let passedOnGrant: Grant?
    private let state = Mutex<AccessControl.Login?>(nil)
    private let failed = Mutex<String?>(nil)
    private let remoteExport = Mutex<String?>(nil)
    private let hasCheckedIn = Atomic(false)

    private static let lastNumber = Atomic<UInt64>(0)

    /// A caller who has not logged in.
    ///
    /// - Parameters:
    ///   - anonymous: what the caller may do without a login; nil for nothing if the service has
    ///     tokens, and everything if it has none.
    ///   - loginAdvice: how to log in.
    public init(
        address: String, anonymous: AnonymousAccess? = nil, loginAdvice: String = "call auth.login"
    ) {
        (self.address, self.anonymous, self.loginAdvice) = (address, anonymous, loginAdvice)
        isPassedOn = false
        passedOnGrant = nil
    }

    /// A caller of another node.
    ///
    /// - Parameter grant: what the login there permits; nil without one.
    init(passedOnWith grant: Grant?, address: String, anonymous: AnonymousAccess? = nil) {
        (self.address, self.anonymous, loginAdvice) = (address, anonymous, "")
        isPassedOn = true
        passedOnGrant = grant
    }

    /// The id of the node that the caller's export is under way on; nil if that is this one.
    public var exportNode: String? {
        get { remoteExport.withLock { $0 } }
        set { remoteExport.withLock { $0 = newValue } }
    }

    /// Takes over the login of another caller, and the request that it has checked in.
    public func shareLogin(of other: Caller) {
        login = other.login
        if other.takeCheckIn() { checkIn() }
    }

    /// Notes that the next request has been counted, with one that it is a part of.
    package func checkIn() { hasCheckedIn.store(true, ordering: .relaxed) }

    /// Whether the next request has been counted; the one behind it has not.
    func takeCheckIn() -> Bool { hasCheckedIn.exchange(false, ordering: .relaxed) }

    /// Bounds the login, and what others share of it from now on, by a session.
    public func bind(to term: LoginTerm) { state.withLock { $0?.term = term } }

    /// The public id of the token by which the last login failed; nil if it had none.
    public internal(set) var failedToken: String? {
        get { failed.withLock { $0 } }
        set { failed.withLock { $0 = newValue } }
    }

    var login: AccessControl.Login? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    /// What the login permits; nil without one.
    public var grant: Grant? { isPassedOn ? passedOnGrant : login?.grant }

    /// Whether the connection has logged in; this does not check whether the login is still valid.
    public var isLoggedIn: Bool { login != nil }
}
