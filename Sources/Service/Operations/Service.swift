import Backend
import Objects
import Runtime
import Synchronization
import WireProtocol

/// The service that requests are made to, whatever wire they come by: it lets them through or not,
/// takes the writes, and is what the reads run on. What each method does stands in `Method`.
public final class Service: Sendable {
    /// The version of this software, as `server.info` tells it.
    public static let version = "0.1.0"
    /// The version of the protocol, as `server.info` tells it.
    public static let protocolVersion = 1

    /// The bounds within which requests are answered.
    public let limits: Limits
    /// What has been counted since the service was made.
    public let counters = Counters()
    let backend: any Backend
    let admission: AdmissionControl
    private let isChecking = Atomic(false)
    private let started = ContinuousClock.now
    private let gauges = ServiceGauges()
    /// Told to those who watch over the service.
    public let health: Health

    /// - Parameters:
    ///   - access: who may log in; nil lets everybody do everything.
    public init(
        backend: any Backend, limits: Limits, access: AccessControl? = nil,
        health: Health = Health(), clock: ServiceClock = ServiceClock()
    ) {
        self.health = health
        self.backend = backend
        self.limits = limits
        admission = AdmissionControl(access: access, limits: limits, clock: clock)
    }

    // MARK: Who asks

    /// Whether callers have to log in.
    public var requiresLogin: Bool { admission.access != nil }

    /// Lets a request through or says why not; to be asked once for each request, in its turn.
    ///
    /// - Throws: `TOO_MANY_REQUESTS`, `UNAUTHORIZED`, `OPERATION_NOT_ALLOWED`.
    public func admit(_ operation: Operation, from caller: Caller) throws(ServiceFailure) {
        try admission.admit(operation, from: caller)
    }

    // MARK: Writes

    /// Queues a write that has been let through; what it creates belongs to the caller's principal.
    /// The completion is called on a thread of the backend's choice.
    public func submit(
        _ write: Write, key: RequestKey?, by caller: Caller,
        completion: @escaping @Sendable (Result<WriteAnswer, ServiceFailure>) -> Void
    ) {
        let principal = caller.grant?.principal
        admission.enqueue()
        backend.submit(
            write.owned(by: principal), key: key?.owned(by: principal),
            by: principal ?? caller.address
        ) { [admission] result in
            admission.dequeue()
            completion(result)
        }
    }

    // MARK: What is told of it

    var uptimeSeconds: Int64 { (ContinuousClock.now - started).components.seconds }

    /// Sets the gauges of what can be told at any moment to what it is now.
    public func setGauges() {
        gauges.set(
            backend.statistics(), openConnections: counters.openConnections,
            uptimeSeconds: uptimeSeconds)
    }

    /// What `body` finds, unless another check of the store is under way.
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
