import Logging
import Objects

extension Logger {
    /// Logs a failed login. Logins refused by the rate limit are not logged: they could fill the log.
    package func noteLogin(_ failure: ServiceFailure, from caller: Caller) {
        guard failure.reason == .wrongToken else { return }
        notice("a login failed", metadata: ["address": "\(caller.address)"])
    }
}
