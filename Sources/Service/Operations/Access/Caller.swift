import Synchronization

/// Who asks: one connection, from its beginning to its end, and whom it has logged in as.
public final class Caller: Sendable {
    /// Where it comes from, as far as limits by address go.
    public let address: String
    public let export = ExportSession()
    private let state = Mutex<AccessControl.Login?>(nil)

    public init(address: String) { self.address = address }

    var login: AccessControl.Login? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    /// What the login permits; nil without one.
    var grant: Grant? { login?.grant }

    public var isLoggedIn: Bool { login != nil }
}
