import BackendContract
import Dispatch
import JSONText
import Objects
import QueryLanguage
import Runtime
import Synchronization

extension PreparedRead {
    /// Appends all that it finds.
    public func run(into writer: inout JSONWriter) throws(ServiceFailure) -> ReadEnd {
        try run(maximumBytes: .max, until: nil, into: &writer)
    }
}

extension Backend {
    /// Prepares a read as the service does: if it has to wait for something, it is let go of, and
    /// prepared anew when that is there.
    public func awaited(_ request: ReadRequest) throws(ServiceFailure) -> any PreparedRead {
        var waits = 0
        while true {
            let read = try prepare(request)
            guard read.isCostly else { return read }
            let told = DispatchSemaphore(value: 0)
            let failure = Mutex<ServiceFailure?>(nil)
            let mayRun = read.mayRun(
                since: monotonicNanoseconds(), after: waits, until: StopSignal()
            ) { reason in
                failure.withLock { $0 = reason }
                told.signal()
            }
            if mayRun { return read }
            told.wait()
            if let failure = failure.withLock({ $0 }) { throw failure }
            waits += 1
        }
    }

    /// How many objects satisfy a clause.
    public func count(
        _ clause: Clause, in bucket: BucketName, by principal: String? = nil
    ) throws(ServiceFailure) -> Int {
        var writer = JSONWriter()
        return try awaited(.count(clause, in: bucket, by: principal)).run(into: &writer).count
    }
}
