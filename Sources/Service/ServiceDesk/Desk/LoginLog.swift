import Logging
import Objects

extension Logger {
    /// Logs a failed login. Logins refused by the rate limit are not logged: they could fill the log.
    package func noteLogin(_ failure: ServiceFailure, from caller: Caller) {
        guard failure.reason == .wrongToken else { return }
        var metadata: Logger.Metadata = ["address": "\(caller.address)"]
        // Its id is not secret, and tells which token is still in use somewhere.
        if let id = caller.failedToken { metadata["token"] = "\(id)" }
        notice("a login failed", metadata: metadata)
    }
}
