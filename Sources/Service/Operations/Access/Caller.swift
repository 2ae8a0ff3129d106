import Synchronization

/// The caller of requests: one connection from beginning to end, and its login.
public final class Caller: Sendable {
    /// The address, as limits by address see it.
    public let address: String
    /// The export or backup in progress on the connection, if any.
    public let export = ExportSession()
    /// What the connection watches.
    public let watches = CallerWatches()
    private let state = Mutex<AccessControl.Login?>(nil)

    /// A caller who has not logged in.
    public init(address: String) { self.address = address }

    var login: AccessControl.Login? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    /// What the login permits; nil without one.
    var grant: Grant? { login?.grant }

    /// Whether the connection has logged in; this does not check whether the login is still valid.
    public var isLoggedIn: Bool { login != nil }
}
