import BackendContract
import Objects
import Runtime
import Synchronization

/// Admits or refuses each request before any other work: by rate limit, login, permission, and
/// length of the write queue, in this order.
final class AdmissionControl: Sendable {
    /// Nil: no login is required, and everything is permitted.
    let access: AccessControl?
    /// What may be read without a login; nil: nothing.
    let everybody: PublicBuckets?
    private let limits: Limits
    private let live: LiveLimits
    private let clock: ServiceClock
    private let byPrincipal: RateLimits
    private let byAddress: RateLimits
    private let failedLogins: RateLimits
    private let recentLogins = RecentLogins()
    private let queuedWrites = Atomic(0)
    private let audit: AuditLog?

    init(
        access: AccessControl?, everybody: PublicBuckets?, audit: AuditLog?, limits: Limits,
        live: LiveLimits, clock: ServiceClock
    ) {
        self.audit = audit
        (self.access, self.everybody) = (access, everybody)
        self.limits = limits
        self.live = live
        self.clock = clock
        byPrincipal = RateLimits(Self.requestRule(limits))
        byAddress = RateLimits(Self.requestRule(limits))
        failedLogins = RateLimits(Self.loginRule(limits))
    }

    /// Applies other rates from now on.
    func apply(_ limits: Limits) {
        byPrincipal.replace(Self.requestRule(limits))
        byAddress.replace(Self.requestRule(limits))
        failedLogins.replace(Self.loginRule(limits))
    }

    private static func requestRule(_ limits: Limits) -> RateLimit.Rule {
        let rate = max(limits.requestsPerSecond, 1)
        return RateLimit.Rule(burst: rate, intervalNanoseconds: 1_000_000_000 / Int64(rate))
    }

    private static func loginRule(_ limits: Limits) -> RateLimit.Rule {
        RateLimit.Rule(
            burst: limits.failedLogins,
            intervalNanoseconds: Int64(limits.failedLoginMilliseconds) * 1_000_000)
    }

    /// - Parameter operation: it is asked for only if something may forbid it.
    func admit(_ operation: () -> Operation, from caller: Caller) throws(ServiceFailure) {
        // The node that passes a request on has counted it, and has checked the login.
        let grant = caller.isPassedOn ? caller.grant : renewedGrant(of: caller)
        if !caller.isPassedOn { try checkRate(grant, caller) }
        guard access != nil || caller.anonymous != nil || isQueueFull else { return }
        let operation = operation()
        if operation == .open { return }
        if grant == nil, let anonymous = caller.anonymous {
            try anonymous.check(operation, caller)
        } else if access != nil {
            try check(operation, grant, caller)
        }
        guard case .write = operation, isQueueFull else { return }
        throw .tooMany("\(limits.queuedWrites) writes are waiting, as many as may", 100_000_000)
    }

    private func check(
        _ operation: Operation, _ grant: Grant?, _ caller: Caller
    ) throws(ServiceFailure) {
        if case .read(let bucket) = operation, everybody?.contains(bucket) == true { return }
        if let grant { return try grant.check(operation) }
        guard let everybody else { throw .noLogin(caller) }
        try everybody.check(operation, caller)
    }

    /// What a caller may read, by a login that was valid a moment ago.
    func reach(of caller: Caller) -> Reach {
        Reach(caller.grant, everybody, isLimited: access != nil && caller.anonymous == nil)
    }

    /// Whether a caller may set what only the service sets otherwise: an administrator, and everybody
    /// where nobody logs in.
    func mayRestoreMetadata(_ caller: Caller) -> Bool {
        if let grant = caller.grant { return grant.role == .admin }
        return access == nil && caller.anonymous == nil
    }

    /// Decides on an admitted write once its params have told what it does.
    ///
    /// - Throws: `OPERATION_NOT_ALLOWED`.
    func permit(_ write: Write, _ caller: Caller) throws(ServiceFailure) {
        if write.restoresMetadata, !mayRestoreMetadata(caller) {
            throw ServiceFailure(
                .notAllowed, "only the role \"admin\" permits to restore metadata",
                at: "withMetadata")
        }
        guard let grant = caller.grant, grant.role(on: write.bucket) < .write else { return }
        try grant.check(.write(write.bucket, write.kind))
    }

    /// Decides on buckets that an admitted request turned out to read.
    ///
    /// - Parameter path: the member that names a bucket; nil if none does.
    /// - Throws: `UNAUTHORIZED`, `OPERATION_NOT_ALLOWED`.
    func permit(
        reading buckets: [BucketName], _ caller: Caller,
        at path: (BucketName) -> String? = { _ in nil }
    ) throws(ServiceFailure) {
        let grant = renewedGrant(of: caller)
        if grant == nil, let anonymous = caller.anonymous {
            for bucket in buckets { try anonymous.check(.read(bucket), caller) }
            return
        }
        let reach = reach(of: caller)
        guard !reach.isEmpty else { throw .noLogin(caller) }
        guard let bucket = buckets.first(where: { !reach.contains($0) }) else { return }
        guard grant != nil else { throw .noLogin(caller) }
        throw ServiceFailure(
            .notAllowed, "the bucket \(quoted(bucket.text)) is not within your reach",
            at: path(bucket))
    }

    /// The caller's present permissions; nil without a login, or when its token is no longer valid.
    func renewedGrant(of caller: Caller) -> Grant? {
        guard let access, let login = caller.login else { return nil }
        let renewed = access.renew(login, nowMilliseconds: clock.milliseconds)
        if renewed?.generation != login.generation { caller.login = renewed }
        return renewed?.grant
    }

    private func checkRate(_ grant: Grant?, _ caller: Caller) throws(ServiceFailure) {
        guard live.requestsPerSecond > 0, !caller.takeCheckIn() else { return }
        guard let grant else { return try checkRate(of: caller.address) }
        try refuse(waiting: byPrincipal.tryTake(grant.principal, now: clock.nanoseconds()))
    }

    /// Counts a request without a login.
    func checkRate(of address: String) throws(ServiceFailure) {
        guard live.requestsPerSecond > 0 else { return }
        try refuse(waiting: byAddress.tryTake(address, now: clock.nanoseconds()))
    }

    private func refuse(waiting nanoseconds: Int64) throws(ServiceFailure) {
        guard nanoseconds > 0 else { return }
        throw .tooMany("more than \(live.requestsPerSecond) requests in a second", nanoseconds)
    }

    /// Counts a request whose operation is not known yet.
    func checkIn(_ caller: Caller) throws(ServiceFailure) {
        guard live.requestsPerSecond > 0 else { return }
        try checkRate(renewedGrant(of: caller), caller)
        caller.checkIn()
    }

    // MARK: Logins

    /// Logs the caller in, within a rate limit on failed logins. Failures count for the address
    /// and, if the token names an existing bearer, for that bearer at that address. A bearer is
    /// limited only by its own failures, not by those of others behind the same address.
    func login(_ token: String, _ caller: Caller) throws(ServiceFailure) -> Grant {
        let now = clock.nanoseconds()
        let bearer = access?.bearer(of: token).map { "\(caller.address) \($0)" }
        let addressWait = failedLogins.wait(caller.address, now: now)
        let wait = bearer.map { failedLogins.wait($0, now: now) } ?? addressWait
        guard wait == 0 else { throw .tooManyLogins(wait) }
        do throws(ServiceFailure) {
            guard let access else { throw .wrongToken }
            let login = try access.login(token, nowMilliseconds: clock.milliseconds())
            caller.login = login
            noteLogin(by: caller)
            return login.grant
        } catch {
            caller.failedToken = Token(token)?.publicID
            if let bearer { failedLogins.take(bearer, now: now) }
            // The answer must not reveal whether such a bearer exists.
            guard addressWait == 0 else { throw .tooManyLogins(addressWait) }
            failedLogins.take(caller.address, now: now)
            noteLogin(by: caller, error)
            throw error
        }
    }

    /// Logins that a limit refuses are not noted: they could fill the log.
    private func noteLogin(by caller: Caller, _ failure: ServiceFailure? = nil) {
        audit?.note(
            AuditEntry(
                time: clock.milliseconds(),
                principal: failure == nil ? caller.grant?.principal : nil,
                address: caller.address, method: .login, bucket: nil, objects: nil,
                errorCode: failure?.reason.rawValue,
                token: failure == nil ? nil : caller.failedToken))
    }

    /// Logs in by a token that comes with every request.
    func identify(_ token: String, _ caller: Caller) throws(ServiceFailure) -> Grant {
        if let login = recentLogins[token] {
            caller.login = login
            if let grant = renewedGrant(of: caller) { return grant }
            caller.login = nil
        }
        let now = clock.nanoseconds()
        if live.requestsPerSecond > 0 {
            try refuse(waiting: byAddress.wait(caller.address, now: now))
        }
        do throws(ServiceFailure) {
            let grant = try login(token, caller)
            recentLogins[token] = caller.login
            return grant
        } catch {
            if live.requestsPerSecond > 0 { byAddress.take(caller.address, now: now) }
            throw error
        }
    }

    // MARK: Write queue

    private var isQueueFull: Bool {
        queuedWrites.load(ordering: .relaxed) >= limits.queuedWrites
    }

    func enqueue() { queuedWrites.add(1, ordering: .relaxed) }

    func dequeue() { queuedWrites.subtract(1, ordering: .relaxed) }
}

extension ServiceFailure {
    fileprivate static func tooManyLogins(_ waitNanoseconds: Int64) -> ServiceFailure {
        .tooMany("too many logins from this address have failed", waitNanoseconds)
    }

    static func tooMany(_ message: String, _ waitNanoseconds: Int64) -> ServiceFailure {
        ServiceFailure(
            .tooManyRequests, message,
            retryAfterMilliseconds: max(1, Int((waitNanoseconds - 1) / 1_000_000 + 1)))
    }
}
