import Synchronization

/// Who asks: one connection, from its beginning to its end, and whom it has logged in as.
public final class Caller: Sendable {
    /// Where it comes from, as far as limits by address go.
    public let address: String
    /// The export or backup that the connection has under way, if any.
    public let export = ExportSession()
    private let state = Mutex<AccessControl.Login?>(nil)

    /// A caller who has not logged in.
    public init(address: String) { self.address = address }

    var login: AccessControl.Login? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    /// What the login permits; nil without one.
    var grant: Grant? { login?.grant }

    /// Whether the connection has logged in; whether the login still holds is not looked at.
    public var isLoggedIn: Bool { login != nil }
}
