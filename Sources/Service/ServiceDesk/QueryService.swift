import BackendContract
import LiveQueries
import Logging
import Objects
import Runtime
import Synchronization

/// The service, independent of the protocol: it admits requests, submits writes, and gives reads
/// their context. `Method` defines what each method does.
public final class QueryService: Sendable {
    /// The version of this software, as `server.info` reports it.
    public static let version = "0.1.0"
    /// The version of the protocol, as `server.info` reports it.
    public static let protocolVersion = 1

    /// The limits for requests, as they were at the start.
    public let limits: Limits
    /// Those that may have changed since.
    public let live: LiveLimits
    /// What has been counted since the service was created.
    public let counters = Counters()
    let backend: any Backend
    /// The costly reads under way.
    public let activity = Activity()
    /// What the connections of all ports hold.
    public let connectionMemory: ConnectionMemory
    /// The watches of all callers.
    public let watches: WatchHub
    /// Which nodes hold which buckets; nil if this one has all of them.
    public let placement: (any BucketPlacement)?
    let admission: AdmissionControl
    private let isChecking = Atomic(false)
    /// The time of connections, watches, rates and logins.
    public let clock: ServiceClock
    private let started: Int64
    private let gauges = ServiceGauges(version: QueryService.version)
    /// The state for health checks.
    public let health: Health
    /// When the service's certificate ends, in milliseconds since 1970; nil without TLS.
    let certificateEnd: @Sendable () -> Int64?
    /// Where it is noted who does what; nil if it is not.
    let audit: AuditLog?

    /// - Parameters:
    ///   - access: who may log in; nil permits everything without a login.
    ///   - everybody: what may be read without a login where there are logins.
    ///   - certificateEnd: when the certificate of its ports ends, in milliseconds since 1970.
    public init(
        backend: any Backend, limits: Limits, access: AccessControl? = nil,
        everybody: PublicBuckets? = nil,
        health: Health = Health(), clock: ServiceClock = ServiceClock(),
        certificateEnd: @escaping @Sendable () -> Int64? = { nil }, audit: AuditLog? = nil,
        logger: Logger = Logger(label: "silent") { _ in SwiftLogNoOpLogHandler() }
    ) {
        self.health = health
        self.certificateEnd = certificateEnd
        self.audit = audit
        self.backend = backend
        self.clock = clock
        started = clock.nanoseconds()
        placement = backend.placement
        self.limits = limits
        live = LiveLimits(limits)
        connectionMemory = ConnectionMemory(limit: limits.bufferedBytes)
        watches = WatchHub(backend: backend, limits: limits, clock: clock, logger: logger)
        admission = AdmissionControl(
            access: access, everybody: everybody, audit: audit, limits: limits, live: live,
            clock: clock)
        health.watch { backend.isReady }
    }

    // MARK: Limits

    /// The limits that apply now.
    var presentLimits: Limits { live.present(limits) }

    /// Applies those of the limits that may change while the service runs: `LiveLimits.names`.
    public func apply(_ limits: Limits) {
        live.apply(limits)
        admission.apply(limits)
        audit?.apply(limits)
    }

    // MARK: Reads

    /// Whether a read may begin at once.
    ///
    /// - Parameter change: the change that it has to see; nil if it names none.
    public func mayReadAtOnce(_ read: any Read, atLeast change: UInt64?) -> Bool {
        change == nil && (backend.readsAtOnce || !read.seesObjects)
    }

    /// Whether some reads may begin now. If not, `ready` is called once, on any thread, when they
    /// may, or with the reason why they may not.
    public func mayRead(
        _ count: Int, atLeast change: UInt64?,
        _ ready: @escaping @Sendable (ServiceFailure?) -> Void
    ) -> Bool {
        backend.mayRead(count, atLeast: change, ready)
    }

    /// Which state reads see; nil if they see the latest.
    public var readStates: ReadStates? { backend.readStates }

    // MARK: Admission

    /// Whether callers have to log in.
    public var requiresLogin: Bool { admission.access != nil }

    /// Whether some buckets may be read without a login.
    public var isPublic: Bool { admission.everybody != nil }

    /// Whether a caller may ask for anything: it has logged in, or need not.
    public func isWelcome(_ caller: Caller) -> Bool {
        !requiresLogin || isPublic || caller.isLoggedIn
    }

    /// Decides on admission; call it once for each request, in order.
    ///
    /// - Parameter method: for the audit log; nil if it is not known.
    /// - Throws: `TOO_MANY_REQUESTS`, `UNAUTHORIZED`, `OPERATION_NOT_ALLOWED`.
    public func admit(
        _ operation: @autoclosure () -> Operation, of method: MethodName? = nil,
        from caller: Caller
    ) throws(ServiceFailure) {
        do throws(ServiceFailure) {
            try admission.admit(operation, from: caller)
        } catch {
            audit(method, operation(), refused: error, by: caller)
            throw error
        }
    }

    /// Counts a request before anything of it is read; the first operation that it turns out to be is
    /// not counted again.
    ///
    /// - Throws: `TOO_MANY_REQUESTS`.
    public func checkIn(_ caller: Caller) throws(ServiceFailure) {
        try admission.checkIn(caller)
    }

    /// Whether a caller may read a bucket; nil: anything at all.
    ///
    /// - Throws: `UNAUTHORIZED`, `OPERATION_NOT_ALLOWED`.
    public func permit(_ caller: Caller, reading bucket: BucketName?) throws(ServiceFailure) {
        try admission.permit(reading: bucket.map { [$0] } ?? [], caller)
    }

    /// Ends the watches of a caller that its login no longer permits: it was revoked, has expired,
    /// was replaced by another, or reaches less. Cheap as long as nothing of that has happened. It
    /// also ends watches of buckets that this node is about to let go.
    public func reviewWatches(of caller: Caller) {
        guard !caller.watches.isEmpty else { return }
        if requiresLogin {
            _ = admission.renewedGrant(of: caller)
            caller.watches.review(admission.reach(of: caller))
        }
        if let placement { caller.watches.review(placement) }
    }

    /// Whether a bucket is within a caller's reach, by a login that was valid a moment ago.
    public func reaches(_ bucket: BucketName, _ caller: Caller) -> Bool {
        admission.reach(of: caller).contains(bucket)
    }

    // MARK: Logins

    /// Logs a caller in by a token, as `auth.login` does, within the limit on failed logins.
    ///
    /// - Throws: `WRONG_TOKEN`, `TOO_MANY_REQUESTS`.
    public func logIn(_ token: String, _ caller: Caller) throws(ServiceFailure) -> Grant {
        try admission.login(token, caller)
    }

    /// Logs a caller in whose every request carries a token. One that was valid a moment ago is not
    /// verified anew. Any other is verified only while its address may ask for something; in vain, it
    /// counts as a request of the address.
    ///
    /// - Throws: `WRONG_TOKEN`, `TOO_MANY_REQUESTS`.
    public func identify(_ token: String, _ caller: Caller) throws(ServiceFailure) -> Grant {
        try admission.identify(token, caller)
    }

    /// Counts a request for a login.
    ///
    /// - Throws: `TOO_MANY_REQUESTS`.
    public func checkLogin(from address: String) throws(ServiceFailure) {
        try admission.checkRate(of: address)
    }

    /// Whether the caller's login is still valid.
    public func isLoggedIn(_ caller: Caller) -> Bool { admission.renewedGrant(of: caller) != nil }

    // MARK: Writes

    /// Queues an admitted write; what it creates belongs to the caller's principal. The backend
    /// calls the completion on a thread of its choice.
    public func submit(
        _ write: Write, key: RequestKey?, by caller: Caller,
        completion: @escaping @Sendable (Result<WriteAnswer, ServiceFailure>) -> Void
    ) {
        let principal = caller.grant?.principal
        let (method, bucket) = (write.method, write.bucket)
        do throws(ServiceFailure) {
            try admission.permit(write, caller)
        } catch {
            audit(method, of: bucket, by: caller, .failure(error))
            return completion(.failure(error))
        }
        admission.enqueue()
        backend.submit(
            write.owned(by: principal), key: key?.owned(by: principal),
            by: principal ?? caller.address
        ) { [self] result in
            admission.dequeue()
            audit(method, of: bucket, by: caller, result)
            completion(result)
        }
    }

    /// The number of the last change that answers to writes give; nil if they give none.
    public var answeredChange: UInt64? { backend.answeredChange }

    // MARK: Statistics

    var uptimeSeconds: Int64 { (clock.nanoseconds() - started) / 1_000_000_000 }

    /// Sets the gauges to the present values.
    public func setGauges() {
        gauges.set(
            backend.statistics(), watches.statistics(), openConnections: counters.openConnections,
            passedOn: counters.passedOn, uptimeSeconds: uptimeSeconds,
            certificateEnd: certificateEnd(), lostAuditLines: audit?.lostLines ?? 0,
            quotaRefusals: limits.quotas.refused)
    }

    /// Runs `body`, unless another check of the store is in progress.
    func checkingAlone<Report>(
        _ body: () throws(ServiceFailure) -> Report
    ) throws(ServiceFailure) -> Report {
        guard !isChecking.exchange(true, ordering: .acquiring) else {
            throw ServiceFailure(.tooManyRequests, "a check of the store is under way")
        }
        defer { isChecking.store(false, ordering: .releasing) }
        return try body()
    }
}
