import CoreMetrics
import Glibc
import JSONText
import Objects
import Synchronization

/// Requests and connections counted since the service started, requests by method.
public final class Counters: Sendable {
    private final class Counted: Sendable {
        let name: String
        let requests = Atomic<Int>(0)
        let errors = Atomic<Int>(0)
        let durations = DurationCounts()

        init(name: String) { self.name = name }
    }

    private let methods = MethodName.allCases.map { Counted(name: "\($0.text)") }
    /// Lines and requests without a known method.
    private let unknown = Counted(name: "other")
    private let open = Mutex<(count: Int, byAddress: [String: Int])>((0, [:]))
    private let accepted = Atomic<Int>(0)
    private let refused = Atomic<Int>(0)
    private let passed = Atomic<Int>(0)
    private let slow = Atomic<Int>(0)
    private let busyBuckets = BusyBuckets()

    private let metrics: RequestMetrics
    private let acceptedMetric = Counter(label: "geobucket_connections_accepted_total")
    private let refusedMetric = Counter(label: "geobucket_connections_refused_total")

    init() { metrics = RequestMetrics(methodNames: methods.map(\.name) + [unknown.name]) }

    /// Counts one answered request.
    ///
    /// - Parameters:
    ///   - method: nil when the request names no known method.
    ///   - errorCode: the error it was answered with; nil for a result.
    ///   - bucket: the one that it was about; nil if it was about none.
    ///   - nanoseconds: from its turn on its connection to its answer.
    public func count(
        method: MethodName?, errorCode: String?, bucket: BucketName? = nil, nanoseconds: Int64
    ) {
        let counter = method.map { methods[$0.rawValue] } ?? unknown
        counter.requests.add(1, ordering: .relaxed)
        counter.durations.count(nanoseconds: nanoseconds)
        if let bucket { busyBuckets.count(bucket, nanoseconds: nanoseconds) }
        if errorCode != nil { counter.errors.add(1, ordering: .relaxed) }
        metrics.record(
            method: method?.rawValue ?? methods.count, errorCode: errorCode,
            nanoseconds: nanoseconds)
    }

    /// Counts a slow read.
    public func countSlow() {
        slow.add(1, ordering: .relaxed)
        metrics.recordSlow()
    }

    /// Counts a request that is passed on to another node, which counts it by its method.
    public func countPassedOn() { passed.add(1, ordering: .relaxed) }

    /// The requests of the busiest buckets, and how long they took, for as long as each is among them:
    /// about, and bounded in number.
    public var requestsByBucket: [(bucket: BucketName, requests: Int, seconds: Double)] {
        busyBuckets.counted.map { ($0.bucket, $0.requests, Double($0.microseconds) / 1e6) }
    }

    /// The number of requests that were passed on to other nodes.
    var passedOn: Int { passed.load(ordering: .relaxed) }

    var openConnections: Int { open.withLock { $0.count } }

    /// Counts a new connection, unless a limit on connections is reached.
    ///
    /// - Parameter makingRoom: ends a connection that deserves less, of an address or of all; false
    ///   if there is none.
    /// - Throws: `TOO_MANY_REQUESTS`; the connection is then to be refused.
    public func admitConnection(
        from address: String, _ limits: Limits, makingRoom: (_ address: String?) -> Bool
    ) throws(ServiceFailure) {
        let failure = open.withLock { open -> ServiceFailure? in
            let ofAddress = limits.connectionsOfAddress
            if open.byAddress[address, default: 0] >= ofAddress {
                guard makingRoom(address) else {
                    return ServiceFailure(
                        .tooManyRequests,
                        "there are \(ofAddress) connections from this address, as many as may be")
                }
            } else if open.count >= limits.connections, !makingRoom(nil) {
                return ServiceFailure(
                    .tooManyRequests,
                    "the service has \(limits.connections) connections, as many as it takes")
            }
            open.count += 1
            open.byAddress[address, default: 0] += 1
            return nil
        }
        if let failure {
            refused.add(1, ordering: .relaxed)
            refusedMetric.increment()
            throw failure
        }
        accepted.add(1, ordering: .relaxed)
        acceptedMetric.increment()
    }

    /// Uncounts a connection at its end; call it once for each that `admitConnection` accepted.
    public func connectionClosed(from address: String) {
        open.withLock { open in
            open.count -= 1
            open.byAddress[address]! -= 1
            if open.byAddress[address] == 0 { open.byAddress[address] = nil }
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.raw(",\"connections\":{\"open\":")
        writer.integer(openConnections)
        writer.key("accepted")
        writer.integer(accepted.load(ordering: .relaxed))
        writer.key("refused")
        writer.integer(refused.load(ordering: .relaxed))
        writer.raw("},\"requests\":{")
        writer.list(methods + [unknown]) { method, writer in
            writer.string(method.name)
            writer.raw(":{\"count\":")
            writer.integer(method.requests.load(ordering: .relaxed))
            writer.key("errors")
            writer.integer(method.errors.load(ordering: .relaxed))
            method.durations.write(to: &writer)
            writer.byte(UInt8(ascii: "}"))
        }
        writer.byte(UInt8(ascii: "}"))
        writer.key("slowQueries")
        writer.integer(slow.load(ordering: .relaxed))
        writer.key("busiest")
        busyBuckets.write(to: &writer)
    }
}

/// Resident memory of the process in bytes; 0 where Linux does not tell it.
func residentBytes() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 128)
    guard fgets(&line, Int32(line.count), file) != nil else { return 0 }
    let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return pages * sysconf(Int32(_SC_PAGESIZE))
}

/// Microseconds of processor time used by all threads of the process.
func processorMicroseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
}
